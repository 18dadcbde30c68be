// Inputs that each GPU has a copy of: nothing of them moves, wherever the rest lies.
#include <gtest/gtest.h>

#include <optional>

#include "cost/bound.hpp"
#include "plan/memory_needs.hpp"
#include "plan/validate.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

const MemoryId gpu0{1}, gpu1{2};  // of two-gpu

Topology two_gpu(std::optional<Bytes> second = {}) {
  auto description = test::shipped("two-gpu").description();
  if (second) description.memories[gpu1.index()].capacity = second;
  return Topology{std::move(description)};
}

GemmProblem product(const Topology& machine, std::string_view a, std::string_view b, std::string_view c = "host") {
  GemmProblem p;
  p.m = 900, p.n = 700, p.k = 800, p.beta = 0;
  const auto place = [&](std::string_view name) { return *machine.find_memory(name); };
  p.place_a = place(a), p.place_b = place(b), p.place_c = place(c);
  return p;
}

Policy tiled(std::string_view name) {
  Policy policy = preset(std::string{name});
  policy.tile = 256;
  return policy;
}

double bytes_read_of(const Plan& plan, Buffer::Kind matrix) {
  double sum = 0;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy && plan.buffer(op.a.buffer).kind == matrix) sum += copy_bytes(plan, op).value;
  return sum;
}

class KeptCopies : public ::testing::TestWithParam<std::string> {};

TEST_P(KeptCopies, NothingOfThemIsCopied) {
  const Topology machine = two_gpu();
  const Policy policy = tiled(GetParam());
  const Plan home = plan_gemm(product(machine, "host", "host"), machine, machine.gpus(), policy);
  const Plan kept = plan_gemm(product(machine, "g*", "host"), machine, machine.gpus(), policy);
  validate(kept, machine);
  EXPECT_GE(bytes_read_of(home, Buffer::Kind::matrix_a), 8.0 * 900 * 800);
  EXPECT_EQ(bytes_read_of(kept, Buffer::Kind::matrix_a), 0);
  EXPECT_GE(bytes_read_of(kept, Buffer::Kind::matrix_b), 8.0 * 700 * 800);
  const Plan both = plan_gemm(product(machine, "g*", "g*"), machine, machine.gpus(), policy);
  EXPECT_EQ(bytes_read_of(both, Buffer::Kind::matrix_b), 0);
}

/// Also where a policy copies what lies on the GPU already.
TEST_P(KeptCopies, EachKernelReadsTheCopyOfItsGpu) {
  const Topology machine = two_gpu();
  const Plan plan = plan_gemm(product(machine, "g*", "g*"), machine, machine.gpus(), tiled(GetParam()));
  int kernels = 0;
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::gemm) continue;
    ++kernels;
    const MemoryId gpu = plan.queue(op.queue).dst;
    for (const View* view : {&op.a, &op.b}) {
      EXPECT_NE(plan.buffer(view->buffer).kind, Buffer::Kind::tile);
      EXPECT_EQ(plan.buffer(view->buffer).memory, gpu);
    }
  }
  EXPECT_GE(kernels, 4);
}

INSTANTIATE_TEST_SUITE_P(Policies, KeptCopies,
                         ::testing::Values("baseline", "cublasxt", "blasx", "xkblas", "paralia", "gemmex", "tilerail"));

TEST(KeptCopiesOf, OtherProductsNeedNoPlaceForThem) {
  const Topology machine = two_gpu();
  const Plan plan = plan_gemm(product(machine, "host", "host"), machine, machine.gpus(), tiled("gemmex"));
  EXPECT_EQ(plan.memories, (std::vector<std::string>{"host", "gpu0", "gpu1"}));
  const Plan kept = plan_gemm(product(machine, "g*", "host"), machine, machine.gpus(), tiled("gemmex"));
  EXPECT_EQ(kept.memories, (std::vector<std::string>{"host", "gpu0", "gpu1", "g*"}));
}

TEST(KeptCopiesOf, AMachineOfOneGpuHaveNoPlaceOfTheirOwn) {
  auto d = test::shipped("two-gpu").description();
  EXPECT_TRUE(Topology{d}.find_memory("g*"));
  EXPECT_FALSE(test::shipped("cocopelia-testbed-1").find_memory("g*"));
}

TEST(KeptCopiesOf, AMatrixTakeItsBytesOnEachGpu) {
  const Topology machine = two_gpu(Bytes{7e6});
  const GemmProblem p = checked(product(machine, "g*", "host"));  // A has 5.76 MB, B 4.48 MB
  const auto needs = needs_of_parts(memory_needs(p, machine.memories().size()), machine, machine.gpus());
  EXPECT_EQ(needs[gpu0.index()].matrices, 5.76e6);
  EXPECT_EQ(needs[gpu1.index()].matrices, 5.76e6);
  expect_input_error([&] { plan_gemm(product(machine, "g*", "g*"), machine, machine.gpus(), tiled("gemmex")); },
                     {"--place", "gpu1", "10.24 MB for matrices"});
}

TEST(KeptCopiesOf, AMatrixNeedNoRoomOnAGpuThatTakesNoPart) {
  const Topology machine = two_gpu(Bytes{1e6});
  const std::vector<MemoryId> first{gpu0};
  const Plan plan = plan_gemm(product(machine, "g*", "host"), machine, first, tiled("gemmex"));
  EXPECT_NO_THROW(validate(plan, machine));
  Policy alone = tiled("tilerail");
  alone.device_choice = DeviceChoice::first;
  EXPECT_NO_THROW(plan_gemm(product(machine, "g*", "host"), machine, first, alone));
}

TEST(KeptCopiesOf, CAreRefused) {
  const Topology machine = two_gpu();
  expect_input_error(
      [&] { plan_gemm(product(machine, "host", "host", "g*"), machine, machine.gpus(), tiled("gemmex")); },
      {"--place", "'g*' for C", "expected one place"});
}

TEST(KeptCopiesOf, APlanDoNotMakeThemDevices) {
  const Topology machine = two_gpu();
  Plan plan = plan_gemm(product(machine, "g*", "host"), machine, machine.gpus(), tiled("gemmex"));
  plan.devices.push_back(*machine.find_memory("g*"));
  plan.origin.given = plan.devices;
  expect_input_error([&] { validate(plan, machine); }, {"'g*'", "not"});
}

/// 10 GB/s in, kernels of 1 TFLOP/s: B alone has to come.
TEST(KeptCopiesOf, AreNotCountedByTheBound) {
  const Topology machine = two_gpu();
  const auto bound = [&](std::string_view a) {
    GemmProblem p = product(machine, a, "host");
    p.m = 100;  // so that transfers decide
    return lower_bound(plan_gemm(p, machine, machine.gpus(), tiled("gemmex")), machine).time.value;
  };
  EXPECT_LT(bound("g*"), bound("host"));
}

}  // namespace
}  // namespace tilerail
