// Calls with all matrices on one GPU.
#include "api/single_gpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/describe/device_topology.hpp"
#include "sched/policy/fields.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"

namespace tilerail::api {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The machine of a program without a description on GPUs like an H200.
std::shared_ptr<const Topology> assumed(size_t gpus) {
  cuda::DeviceFacts device;
  device.name = "GPU", device.compute_capability = 90, device.multiprocessors = 132,
  device.clock = 1.98e9;
  device.memory_bandwidth = 4.8e12, device.memory_bytes = int64_t{140} << 30,
  device.copy_engines = 3;
  cuda::MachineFacts facts;
  facts.devices.assign(gpus, device);
  facts.peers.assign(gpus, std::vector<cuda::PeerLink>(gpus, cuda::PeerLink::nvlink));
  return std::make_shared<Topology>(cuda::describe(facts));
}

PlannedCall planned(const Topology& machine, int64_t n, int gpu = 0,
                    const std::string& override_ = "") {
  GemmProblem problem;
  problem.m = problem.n = problem.k = n;
  problem.place_a = problem.place_b = problem.place_c = *machine.find_gpu(gpu);
  Policy policy = preset("tilerail");
  policy.effort = Effort::fast;
  if (!override_.empty()) apply_override(policy, override_);
  return CallPlanner{machine}.plan(checked(problem), machine.gpus(), policy, {});
}

TEST(SingleGpu, SmallProductsAreOneKernelOnAnyMachine) {
  const Topology two = *assumed(2), eight = *assumed(8),
                 measured = tilerail::test::shipped("hgx-h200"),
                 published = tilerail::test::shipped("karolina-hgx-a100");
  for (const Topology* machine : {&two, &eight, &measured, &published})
    for (const int64_t n : {1, 64, 100, 256, 1000, 1024})
      for (const int gpu : {0, 1}) {
        const PlannedCall call = planned(*machine, n, gpu);
        EXPECT_TRUE(is_single_kernel(call.plan)) << machine->name() << ", " << n;
        EXPECT_THAT(call.info.devices, ElementsAre(gpu));
        EXPECT_THAT(call.info.why, HasSubstr("too little to share"));
      }
}

/// 2048^3 on two H200 took 607 us with a plan of an assumed description, and 319 us as
/// one kernel.
TEST(SingleGpu, AnAssumedDescriptionHasToPromiseMoreThanAMeasuredOne) {
  const Topology two = *assumed(2);
  const PlannedCall small = planned(two, 2048);
  EXPECT_TRUE(is_single_kernel(small.plan)) << small.info.why;
  EXPECT_GT(planned(two, 16384).info.devices.size(), 1u)
      << "a product that is large enough still gains";
  Topology::Description claimed = two.description();
  for (Source& source : claimed.sources) source.kind = Source::Kind::measured;
  const Topology trusted{claimed};
  int64_t from_assumed = 0, from_measured = 0;
  for (int64_t n = 16384; n >= 1024; n -= 512) {
    if (!is_single_kernel(planned(two, n).plan)) from_assumed = n;
    if (!is_single_kernel(planned(trusted, n).plan)) from_measured = n;
  }
  EXPECT_LT(from_measured, from_assumed);
}

/// On eight GPUs, more than two are estimated to be faster, but not certainly.
TEST(SingleGpu, FewerGpusAreUsedUnlessMoreAreSurelyFaster) {
  const Topology two = *assumed(2), eight = *assumed(8);
  ASSERT_EQ(planned(two, 4096).info.devices.size(), 2u);
  const PlanInfo info = planned(eight, 4096, 3).info;
  EXPECT_EQ(info.devices.size(), 2u) << info.why;
  EXPECT_THAT(info.devices, ::testing::Contains(3)) << "the one with the matrices";
}

TEST(SingleGpu, RequestedGpusAndTilesAreUsed) {
  const Topology two = *assumed(2);
  EXPECT_THAT(planned(two, 1024, 0, "devices=all").info.devices, ElementsAre(0, 1));
  EXPECT_EQ(planned(two, 1024, 0, "tile=256").info.tile, 256);
}

TEST(SingleGpu, RunsFromTheCallWithoutAnyOtherPreparationAndIsKept) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log);
  int stream = 0;
  for (const double alpha : {2.0, 0.5}) {
    Multiplication call{40, 50, 64, alpha, 1};
    log->on_device = {{call.a.data(), 1}, {call.b.data(), 1}, {call.c.data(), 1}};
    GemmTimes times;
    PlanInfo info;
    session->gemm(call.x, {.stream = &stream, .times = &times, .plan = &info});
    call.expect_right();
    EXPECT_EQ(log->steps, std::vector<std::string>{"single"});
    EXPECT_EQ(log->stream, &stream);
    EXPECT_EQ(info.operations, 1u);
    EXPECT_THAT(info.devices, ElementsAre(1));
    EXPECT_EQ(times.planned, alpha == 2.0);
    EXPECT_EQ(times.memory, 0);
  }
  EXPECT_EQ(log->binds, 1);
}

TEST(SingleGpu, CallsWithoutAProductScaleCInOneKernel) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log);
  Multiplication call{40, 50, 64, 0, 2.5};
  call.x.a = call.x.b = nullptr;
  log->on_device = {{call.c.data(), 0}};
  session->gemm(call.x);
  call.expect_right();
  EXPECT_EQ(log->steps, std::vector<std::string>{"single"});
}

TEST(SingleGpu, AMatrixElsewhereNeedsAPlan) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log);
  Multiplication call{40, 50, 64, 2, 1};
  log->on_device = {{call.a.data(), 0}, {call.c.data(), 0}};
  session->gemm(call.x);
  call.expect_right();
  EXPECT_EQ(log->steps.front(), "wait");
}

}  // namespace
}  // namespace tilerail::api
