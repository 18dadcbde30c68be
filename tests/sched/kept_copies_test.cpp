// Replicated inputs are never copied, wherever the other matrices are.
#include <gtest/gtest.h>

#include <optional>

#include "cost/bound.hpp"
#include "plan/memory_needs.hpp"
#include "plan/validate.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/emulation/overlap_gemm.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/scheduler.hpp"
#include "sched/transport/router.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

const MemoryId gpu0{1}, gpu1{2};  // of two-gpu

Topology two_gpu(std::optional<Bytes> second = {}) {
  auto description = test::shipped("two-gpu").description();
  if (second) description.memories[gpu1.index()].capacity = second;
  return Topology{std::move(description)};
}

GemmProblem product(const Topology& machine, std::string_view a, std::string_view b,
                    std::string_view c = "host") {
  GemmProblem p;
  p.m = 900, p.n = 700, p.k = 800, p.beta = 0;
  const auto place = [&](std::string_view name) {
    return testing::layout(machine, name);
  };
  p.place_a = place(a), p.place_b = place(b), p.place_c = place(c);
  return p;
}

Policy tiled(std::string_view name) {
  Policy policy = any_preset(std::string{name});
  policy.choices.tile = 256;
  return policy;
}

double bytes_read_of(const Plan& plan, TensorId matrix) {
  double sum = 0;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy &&
        testing::is_of(plan.buffer(plan.operands_of(op)[0].buffer), matrix))
      sum += copy_bytes(plan, op).value;
  return sum;
}

class KeptCopies : public ::testing::TestWithParam<std::string> {};

TEST_P(KeptCopies, AreNeverCopied) {
  const Topology machine = two_gpu();
  const Policy policy = tiled(GetParam());
  const Plan home =
      plan_gemm(product(machine, "host", "host"), machine, machine.gpus(), policy);
  const Plan kept =
      plan_gemm(product(machine, "g*", "host"), machine, machine.gpus(), policy);
  validate(kept, machine);
  EXPECT_GE(bytes_read_of(home, tensor_a), 8.0 * 900 * 800);
  EXPECT_EQ(bytes_read_of(kept, tensor_a), 0);
  EXPECT_GE(bytes_read_of(kept, tensor_b), 8.0 * 700 * 800);
  const Plan both =
      plan_gemm(product(machine, "g*", "g*"), machine, machine.gpus(), policy);
  EXPECT_EQ(bytes_read_of(both, tensor_b), 0);
}

/// Also with a policy that copies tiles already on the GPU.
TEST_P(KeptCopies, EachKernelReadsTheCopyOfItsGpu) {
  const Topology machine = two_gpu();
  const Plan plan =
      plan_gemm(product(machine, "g*", "g*"), machine, machine.gpus(), tiled(GetParam()));
  int kernels = 0;
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::gemm) continue;
    ++kernels;
    const MemoryId gpu = plan.queue(op.queue).dst;
    const Views x = plan.operands_of(op);
    for (const View& view : {x[0], x[1]}) {
      EXPECT_FALSE(plan.buffer(view.buffer).in_arena);
      EXPECT_EQ(plan.buffer(view.buffer).memory, gpu);
    }
  }
  EXPECT_GE(kernels, 4);
}

INSTANTIATE_TEST_SUITE_P(Policies, KeptCopies,
                         ::testing::Values("baseline", "cublasxt", "blasx", "xkblas",
                                           "paralia", "gemmex", "tilerail"));

TEST(Replicas, AddNoMemoryToOtherProducts) {
  const Topology machine = two_gpu();
  const Plan plan = plan_gemm(product(machine, "host", "host"), machine, machine.gpus(),
                              tiled("gemmex"));
  EXPECT_EQ(plan.memories, (std::vector<std::string>{"host", "gpu0", "gpu1"}));
  const Plan kept =
      plan_gemm(product(machine, "g*", "host"), machine, machine.gpus(), tiled("gemmex"));
  EXPECT_EQ(kept.memories, (std::vector<std::string>{"host", "gpu0", "gpu1"}));
}

TEST(Replicas, OfAMachineWithOneGpuHaveNoSeparatePlace) {
  const Topology machine = test::shipped("cocopelia-testbed-1");
  EXPECT_EQ(testing::layout(machine, "g*"), Layout{machine.gpus().front()});
}

TEST(Replicas, TakeTheBytesOfTheMatrixOnEachGpu) {
  const Topology machine = two_gpu(Bytes{7e6});
  const GemmProblem p =
      checked(product(machine, "g*", "host"));  // A has 5.76 MB, B 4.48 MB
  const auto needs = memory_needs(tensors_of(p), machine.gpus(), machine);
  EXPECT_EQ(needs[gpu0.index()].matrices, 5.76e6);
  EXPECT_EQ(needs[gpu1.index()].matrices, 5.76e6);
  expect_input_error(
      [&] {
        plan_gemm(product(machine, "g*", "g*"), machine, machine.gpus(), tiled("gemmex"));
      },
      {"place", "gpu1", "10.24 MB for matrices"});
}

TEST(Replicas, NeedNoRoomOnAnUnusedGpu) {
  const Topology machine = two_gpu(Bytes{1e6});
  const std::vector<MemoryId> first{gpu0};
  const Plan plan =
      plan_gemm(product(machine, "g*", "host"), machine, first, tiled("gemmex"));
  EXPECT_NO_THROW(validate(plan, machine));
  Policy alone = tiled("tilerail");
  alone.device_choice = DeviceChoice::first;
  EXPECT_NO_THROW(plan_gemm(product(machine, "g*", "host"), machine, first, alone));
}

TEST(Replicas, OfCAreRefused) {
  const Topology machine = two_gpu();
  expect_input_error(
      [&] {
        plan_gemm(product(machine, "host", "host", "g*"), machine, machine.gpus(),
                  tiled("gemmex"));
      },
      {"place", "'g*' is not a place for C", "expected one place"});
}

/// A has 512 MB, too much for 10 GB/s from the host or 40 GB/s between the GPUs in 6 ms;
/// B and C are small.
TEST(Replicas, DoNotCountInTheBound) {
  const Topology machine = two_gpu();
  const auto bound = [&](std::string_view a) {
    GemmProblem p = product(machine, a, "host");
    p.m = p.k = 8000, p.n = 8;
    return lower_bound(checked(p), machine, machine.gpus()).time;
  };
  EXPECT_GT(bound("host"), Seconds{40e-3});
  EXPECT_LT(bound("g*"), Seconds{6e-3});
}

TEST(Replicas, AreOnEveryGivenGpu) {
  const Topology machine = two_gpu();
  GemmProblem p = product(machine, "host", "host");
  p.place_b = Layout::replicated({MemoryId{0}, gpu1});
  expect_input_error(
      [&] { plan_gemm(p, machine, machine.gpus(), tiled("gemmex")); },
      {"place: 'copies@host+gpu1' has no copy on gpu0", "a copy on every given GPU"});
  EXPECT_NO_THROW(plan_gemm(p, machine, {&gpu1, 1}, tiled("gemmex")));
}

TEST(Replicas, TakeNoRoomForTiles) {
  const Topology machine = two_gpu();
  const auto peak = [&](std::string_view a, std::string_view b) {
    return plan_gemm(product(machine, a, b), machine, machine.gpus(), tiled("gemmex"))
        .peak_bytes[gpu0.index()];
  };
  EXPECT_LE(peak("g*", "host"),
            peak("host", "host") - 8 * 800 * 900 / 2);  // half of A or all of it
  EXPECT_LE(peak("host", "g*"), peak("host", "host") - 8 * 800 * 700 / 2);
}

TEST(Replicas, AreNotTrafficOfAGrid) {
  const Topology machine = two_gpu();
  const Resources resources{machine};
  const GemmProblem p = checked(product(machine, "g*", "host"));
  for (const bool batch : {false, true})
    EXPECT_EQ(grid_traffic(p, resources, machine.gpus(), {1, 2}, batch).total.value,
              8 * (800 * 700 + 900 * 700))
        << batch;
}

TEST(Replicas, AreNotTransfersOfTheModels) {
  const Topology machine = two_gpu();
  const GemmProblem p = checked(product(machine, "g*", "host"));
  const WorkloadProblem workload = workload_problem(p, machine, machine.gpus(), 256, 1);
  ASSERT_EQ(workload.operands.size(), 2U);
  EXPECT_EQ(workload.operands[0].bytes.value, 8 * 800 * 700);
  for (const MemoryId gpu : machine.gpus()) {
    const OverlapProblem overlap = overlap_problem(p, machine, gpu);
    EXPECT_FALSE(overlap.operands[0].get);
    EXPECT_TRUE(overlap.operands[1].get);
  }
}

TEST(Replicas, CauseNoCopiesBetweenGpus) {
  const Topology machine = two_gpu();
  EXPECT_FALSE(
      may_copy_between_gpus(product(machine, "g*", "host"), machine, std::vector{gpu0}));
  EXPECT_TRUE(may_copy_between_gpus(product(machine, "gpu1", "host"), machine,
                                    std::vector{gpu0}));
}

/// Also if islands of GPUs limit the incoming data.
TEST(Replicas, NeverRaiseTheBound) {
  for (const char* name :
       {"clx-ai", "summit-node", "pcie-tree-8", "hgx-h200", "two-gpu"}) {
    const Topology machine = test::shipped(name);
    const std::string host = machine.memory(machine.hosts()[0]).name;
    const auto bound = [&](std::string_view a, std::string_view b) {
      GemmProblem p = product(machine, a, b, host);
      p.m = p.n = p.k = 8192;
      return lower_bound(checked(p), machine, machine.gpus()).time;
    };
    constexpr double precise = 1 + 1e-5;  // precision of the bound
    EXPECT_LE(bound("g*", host), precise * bound(host, host)) << name;
    EXPECT_LE(bound("g*", "g*"), precise * bound("g*", host)) << name;
  }
}

TEST(Replicas, NeedNoRelays) {
  for (const char* name : {"clx-ai", "summit-node", "pcie-tree-8", "meluxina-a100",
                           "two-gpu", "karolina-hgx-a100"}) {
    const Topology machine = test::shipped(name);
    const Resources resources{machine};
    GemmProblem p = product(machine, machine.memory(machine.hosts()[0]).name, "g*",
                            machine.memory(machine.gpus()[0]).name);
    const bool with_copies = relays_help(checked(p), resources, machine.gpus());
    p.place_b = p.place_a;
    EXPECT_EQ(with_copies, relays_help(checked(p), resources, machine.gpus())) << name;
  }
}

/// GPUs without links to each other still have their copies.
TEST(Replicas, NeedNoLinksBetweenGpus) {
  auto description = test::shipped("two-gpu").description();
  // Room for A and for the half of B and of C that a GPU uses, but not for all of B.
  for (const MemoryId gpu : {gpu0, gpu1})
    description.memories[gpu.index()].capacity = Bytes{5.76e6 + 8.2e6};
  const VertexId host =
      description.memories[0].vertex;  // replaces the switch between it and the GPUs
  for (Link& link : description.links)
    for (VertexId* end : {&link.from, &link.to})
      if (description.vertices[end->index()].kind == VertexKind::network_switch)
        *end = host;
  std::erase_if(description.links, [&](const Link& link) {
    return (link.from == host) == (link.to == host);
  });
  const Topology apart{std::move(description)}, machine = two_gpu();
  ASSERT_FALSE(apart.has_route(gpu0, gpu1));
  const GemmProblem p = checked(product(machine, "g*", "host"));
  EXPECT_EQ(supplied_devices(p, apart, apart.gpus()).size(), 2U);
  EXPECT_EQ(directly_supplied(p, apart, apart.gpus()).size(), 2U);
  Policy policy = tiled("gemmex");
  policy.choices.routing = Routing::initial, policy.choices.batch = Batch::off;
  const Plan plan = plan_gemm(p, apart, apart.gpus(), policy);
  EXPECT_EQ(plan.peak_bytes, plan_gemm(p, machine, machine.gpus(), policy).peak_bytes);
  EXPECT_EQ(
      std::ranges::find(plan.origin.decisions, std::string{"tiles"}, &PlanDecision::key)
          ->value,
      "all fit");
}

}  // namespace
}  // namespace tilerail
