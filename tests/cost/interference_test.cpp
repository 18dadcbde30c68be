// Contention for the copies of hand-made plans.
#include "cost/copy_times.hpp"

#include <gtest/gtest.h>

#include "tests/cost/cost_draft.hpp"

namespace tilerail {
namespace {

using namespace cost_test;
using Interference = StridedEfficiency::Interference;

Topology interfering(double beside, double forgotten) {
  auto d = machine().description();
  d.strided.beside = beside, d.strided.forgotten = forgotten;
  return Topology{std::move(d)};
}

Interference interference(const Draft& d, const Topology& topology, OpId copy) {
  return CopyShapes{d.plan, topology, PlanKernelCosts{d.plan, topology}}
      .of(copy)
      .interference;
}

// 102.4 MB in columns of 1 KiB arrive at 2.5 GB/s, 40.96 ms, and leave packed at 10 GB/s,
// 10.24 ms.
class InterferenceOfCopies : public ::testing::Test {
 protected:
  Draft d;
  OpId in = d.copy({d.matrix(host, 65536, 100'000, 65536).buffer, 0, 0, 128, 100'000},
                   d.matrix(gpu, 128, 100'000));
  OpId out = d.copy(d.matrix(gpu, 128, 100'000), d.matrix(host, 128, 100'000));
};

TEST_F(InterferenceOfCopies, CopiesInTheOtherDirectionInterfereWhileTheyRun) {
  const Topology topology = interfering(3, 0);
  EXPECT_EQ(interference(d, topology, in), (Interference{0.25, 0}));
  EXPECT_EQ(interference(d, topology, out), (Interference{1, 0}))
      << "no more than always";
}

// Products of 20.48 ms: half of the time of the incoming copies, all of the time of the
// outgoing ones.
TEST_F(InterferenceOfCopies, KernelsInterfereWhileTheyRun) {
  d.gemm(d.matrix(gpu, 1000, 10240), d.matrix(gpu, 10240, 1000),
         d.matrix(gpu, 1000, 1000));
  const Topology topology = interfering(1, 0.5);
  const Interference beside = interference(d, topology, in);
  EXPECT_NEAR(beside.kernels, 0.5, 1e-9);
  EXPECT_NEAR(beside.any, 0.5, 1e-9) << "the longer of both";
  EXPECT_EQ(interference(d, topology, out), (Interference{1, 1}));
}

TEST_F(InterferenceOfCopies, CopiesWithinAMemoryHaveNoInterference) {
  const Topology topology = interfering(3, 0.5);
  for (const MemoryId memory : {host, gpu})
    EXPECT_EQ(interference(d, topology,
                           d.copy(d.matrix(memory, 128, 10), d.matrix(memory, 128, 10))),
              (Interference{0, 0}));
}

TEST_F(InterferenceOfCopies, IsNotComputedForMachinesWithoutFiguresOfInterference) {
  EXPECT_EQ(interference(d, interfering(1, 0), in), Interference{});
}

// A quarter of the rate without contention: looking up pages takes three times as long as
// the bytes. For half of the time it takes twice as long: 1 / (1 + 1.5 x 3).
TEST_F(InterferenceOfCopies, LengthensEstimates) {
  d.gemm(d.matrix(gpu, 1000, 10240), d.matrix(gpu, 10240, 1000),
         d.matrix(gpu, 1000, 1000));
  const Topology alone = interfering(1, 0), beside = interfering(2, 0);
  const auto of = [&](const Topology& topology) {
    return estimate_plan(d.plan, topology, Resources{topology}).makespan.value;
  };
  EXPECT_NEAR(of(alone), 40.96e-3, 1e-6);
  EXPECT_NEAR(of(beside), 10.24e-3 * 5.5, 1e-6);
}

}  // namespace
}  // namespace tilerail
