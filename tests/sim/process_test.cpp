// Several simulators in one process: many plans, several machines, errors between them.

#include <csignal>
#include <thread>

#include "model/base/error.hpp"
#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

/// Copies that share links at irregular times and kernels that share GPUs, to expose
/// rounding.
Plan busy_plan(const Topology& machine) {
  HandPlan p{machine};
  std::vector<OpId> before;
  for (int i = 0; i < 60; ++i) {
    const MemoryId gpu = i % 3 == 0 ? gpu1 : gpu0;
    const OpId in = p.copy(host, gpu, 8 * (100'003 + 7919 * i), before);
    const OpId kernel = p.gemm(gpu, 100 + 37 * (i % 11), 300, 500, {in}, i % 4);
    before = {p.copy(gpu,
                     i % 2 == 0    ? host
                     : gpu == gpu0 ? gpu1
                                   : gpu0,
                     8 * 54'321, {kernel})};
    if (i % 5 == 0) before.clear();
  }
  return p.plan;
}

void expect_same(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (size_t i = 0; i < a.ops.size(); ++i) {
    EXPECT_EQ(a.ops[i].start, b.ops[i].start) << i;
    EXPECT_EQ(a.ops[i].end, b.ops[i].end) << i;
  }
}

TEST(SimProcess, NamesTheBackendAndThePlan) {
  const Topology machine = two_gpu();
  const Plan plan = busy_plan(machine);
  const Timeline t = SimExecutor{machine}.execute(plan);
  EXPECT_EQ(t.backend, "sim");
  EXPECT_EQ(t.plan_hash, content_hash(plan));
}

TEST(SimProcess, AnEmptyPlanTakesNoTime) {
  const Topology machine = two_gpu();
  EXPECT_EQ(SimExecutor{machine}.execute(HandPlan{machine}.plan).makespan().value, 0.0);
}

TEST(SimProcess, TheSamePlanGivesTheSameTimelineBitForBit) {
  const Topology machine = two_gpu();
  const Plan plan = busy_plan(machine);
  SimExecutor sim{machine};
  const Timeline first = sim.execute(plan);
  expect_same(first, sim.execute(plan));
  expect_same(first, SimExecutor{machine}.execute(plan));
}

TEST(SimProcess, APlanAfterAVeryLongOneGivesTheSameTimelineBitForBit) {
  // The long plan ends after 2^53 picoseconds: dates of the short one on the same clock
  // would lose fractions of a picosecond.
  const auto slow_link = [](auto& d) {
    d.links[link_named(d, "host->pcie0").index()].bandwidth = Rate{1e6};
  };
  const Topology machine = two_gpu(), slow = two_gpu(slow_link);
  const Plan plan = busy_plan(machine);
  const Timeline first = SimExecutor{machine}.execute(plan);
  HandPlan longest{slow};
  for (int i = 0; i < 12; ++i) longest.copy(host, gpu0, 800 * MB);
  EXPECT_GT(SimExecutor{slow}.execute(longest.plan).makespan().value, 9007);
  expect_same(first, SimExecutor{machine}.execute(plan));
}

TEST(SimProcess, MachinesCanAlternate) {
  const Topology machine = two_gpu(),
                 slow = two_gpu([](auto&d) {
                   d.links[link_named(d, "host->pcie0").index()].bandwidth = Rate{5e9};
                 });
  SimExecutor fast_sim{machine}, slow_sim{slow};
  HandPlan p{machine};
  const OpId copy = p.copy(host, gpu0, 10 * MB);
  for (int i = 0; i < 3; ++i) {
    expect_times(fast_sim.execute(p.plan), copy, 0, 10 * us + 1 * ms);
    expect_times(slow_sim.execute(p.plan), copy, 0, 10 * us + 2 * ms);
  }
}

TEST(SimProcess, AHundredPlansRunInOneProcess) {
  const Topology machine = two_gpu();
  SimExecutor sim{machine};
  for (int i = 1; i <= 100; ++i) {
    HandPlan p{machine};
    const OpId copy = p.copy(host, gpu0, i * MB);
    expect_times(sim.execute(p.plan), copy, 0, 10 * us + i * 0.1 * ms);
  }
}

TEST(SimProcess, ARefusedPlanLeavesTheExecutorUsable) {
  const Topology machine = two_gpu();
  SimExecutor sim{machine};
  HandPlan good{machine};
  const OpId copy = good.copy(host, gpu0, 10 * MB);

  Plan too_large = good.plan;
  too_large.peak_bytes[gpu0.index()] = 2'000 * MB;  // the GPU has 1 GB
  EXPECT_THROW(sim.execute(too_large), InputError);

  Plan backwards = good.plan;
  backwards.deps = {copy};  // a dependency on itself
  backwards.dep_begin = {0, 1};
  EXPECT_THROW(sim.execute(backwards), InputError);

  Plan elsewhere = good.plan;
  elsewhere.memories[2] = "gpu7";
  EXPECT_THROW(sim.execute(elsewhere), InputError);

  expect_times(sim.execute(good.plan), copy, 0, 1.01 * ms);
}

TEST(SimProcess, ATypeWithoutKernelTimesIsRefused) {
  const Topology machine =
      two_gpu([](auto& d) { d.kernels[0].gemm.resize(1); });  // f64 only
  SimExecutor sim{machine};
  HandPlan single{machine, DType::f32};
  single.gemm(gpu0, 1024, 1024, 1024);
  EXPECT_THROW(sim.execute(single.plan), InputError);
  HandPlan p{machine};
  const OpId kernel = p.gemm(gpu0, 1024, 1024, 1024);
  expect_times(sim.execute(p.plan), kernel, 0, 2.0 * 1024 * 1024 * 1024 / 1e12);
}

TEST(SimProcess, ThreadsCanSimulateSimultaneously) {
  const Topology machine = two_gpu();
  const Plan plan = busy_plan(machine);
  const Timeline expected = SimExecutor{machine}.execute(plan);
  std::vector<Timeline> results(4);
  std::vector<std::thread> threads;
  for (Timeline& result : results)
    threads.emplace_back([&] { result = SimExecutor{machine}.execute(plan); });
  for (std::thread& thread : threads) thread.join();
  for (const Timeline& result : results) expect_same(expected, result);
}

TEST(SimProcess, SimulationsPrintNothingAndKeepSignalHandlers) {
  const Topology machine = two_gpu();
  const Plan plan = busy_plan(machine);
  struct sigaction before, after;
  sigaction(SIGINT, nullptr, &before);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  SimExecutor{machine}.execute(plan);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace tilerail::testing
