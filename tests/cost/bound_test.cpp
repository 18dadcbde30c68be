// The bound of problems that can be computed by hand, on two-gpu: 1 TFLOP/s per GPU and
// 10 GB/s each way, 12 GB/s to both and from both, 40 GB/s between them, 10 us from the
// host to a GPU or back.
#include "cost/bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "model/import/machine_builder.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

using ::testing::FieldsAre;

class LowerBound : public ::testing::Test {
 protected:
  /// On this many GPUs, with links `links` times as fast.
  static Bound bound(GemmProblem p, size_t gpus, double links = 1) {
    auto d = test::shipped("two-gpu").description();
    for (Link& link : d.links) link.bandwidth = links * link.bandwidth;
    const Topology machine{std::move(d)};
    return lower_bound(checked(p), machine, std::span{machine.gpus()}.first(gpus));
  }
  static GemmProblem gemm(int64_t m, int64_t n, int64_t k) {
    GemmProblem p;
    p.m = m, p.n = n, p.k = k;
    return p;
  }
  /// Accuracy of the bisection.
  static constexpr double precise = 2e-4;
};

TEST_F(LowerBound, AddsKernelsAndTheFirstAndLastLatency) {
  const Bound one = bound(gemm(8192, 8192, 8192), 1);
  const double work = 2.0 * 8192 * 8192 * 8192 / 1e12;
  EXPECT_NEAR(one.time.value, work + 20e-6, precise * work);
  EXPECT_THAT(one.binding, FieldsAre(TimeUse::kernels, "gpu0", 0));
  const Bound two = bound(gemm(8192, 8192, 8192), 2);
  EXPECT_NEAR(two.time.value, work / 2 + 20e-6, precise * work);
  EXPECT_THAT(two.binding, FieldsAre(TimeUse::kernels, "gpu0", 1));
}

TEST_F(LowerBound, AProductOfDepthOneWritesC) {
  GemmProblem p = gemm(8192, 8192, 1);
  p.beta = 0;
  const double alone = 8.0 * 8192 * 8192 / 10e9, together = 8.0 * 8192 * 8192 / 12e9;
  EXPECT_NEAR(bound(p, 1).time.value, alone, precise * alone);
  EXPECT_THAT(bound(p, 1).binding,
              ::testing::AnyOf(FieldsAre(TimeUse::link, "gpu0->pcie0", 0),
                               FieldsAre(TimeUse::engines, "d2h engines of gpu0",
                                         0)));  // both are full
  EXPECT_NEAR(bound(p, 2).time.value, together, precise * together);
  EXPECT_THAT(bound(p, 2).binding, FieldsAre(TimeUse::link, "pcie0->host", 0));
}

TEST_F(LowerBound, CIsReadOnlyIfBetaIsNotZero) {
  // Scaling only: C goes to the GPU and back, in both directions simultaneously.
  GemmProblem scale = gemm(4096, 4096, 4096);
  scale.alpha = 0, scale.beta = 2;
  const double seconds = 8.0 * 4096 * 4096 / 10e9;
  EXPECT_NEAR(bound(scale, 1).time.value, seconds, precise * seconds);
  scale.beta = 1;
  EXPECT_EQ(bound(scale, 1).time, Seconds{0});
}

TEST_F(LowerBound, DataAtHomeNeedNotMove) {
  GemmProblem p = gemm(64, 8192, 8192);
  p.beta = 0;
  const double a = 8.0 * 64 * 8192 / 10e9, b = 8.0 * 8192 * 8192 / 10e9,
               work = 2.0 * 64 * 8192 * 8192 / 1e12;
  EXPECT_NEAR(bound(p, 1).time.value, a + b, precise * (a + b));
  p.place_b = MemoryId{1};
  EXPECT_NEAR(bound(p, 1).time.value, work + 20e-6, precise * work);  // A in, C out
}

TEST_F(LowerBound, ForwardedBytesLoadTheLinksOfTheGpus) {
  // All on gpu0: the speedup by gpu1 is limited by the link to it.
  GemmProblem p = gemm(2048, 2048, 2048);
  p.place_a = p.place_b = p.place_c = MemoryId{1};
  const double alone = bound(p, 1).time.value;
  EXPECT_LT(bound(p, 2).time.value, 0.6 * alone);
  const Bound slow = bound(p, 2, 0.0025);
  EXPECT_GT(slow.time.value, 0.9 * alone);
  EXPECT_LE(slow.time.value, alone * (1 + precise));
}

// Just below such a bound no solution exists: the binding resource is found just above
// it.
TEST_F(LowerBound, ProblemsInTheMemoryOfOneGpuAreBoundByKernels) {
  const Topology machine = test::shipped("hgx-h200-1");
  for (const int64_t side : {1024, 2048, 4096, 8192, 16384}) {
    GemmProblem p = gemm(side, side, side);
    p.place_a = p.place_b = p.place_c = machine.gpus()[0];
    EXPECT_THAT(lower_bound(checked(p), machine, machine.gpus()).binding,
                FieldsAre(TimeUse::kernels, "gpu0", 0))
        << side;
  }
}

/// Four GPUs of 1 TFLOP/s in two pairs with links of 1 TB/s, which are not a limit, and a
/// bridge between the pairs.
Topology two_islands(Rate bridge) {
  const Topology two = test::shipped("two-gpu");
  const auto& d = two.description();
  MachineBuilder machine{
      "islands",
      "",
      {d.name, d.kernels[0], two.memory(two.gpus()[0]), d.strided, d.issue, d.sources}};
  machine.source("made", Source::Kind::assumed, "for this test");
  const std::array hubs{machine.add_switch("hub0", "made"),
                        machine.add_switch("hub1", "made")};
  machine.join(machine.add_host("host", "made"), hubs[0], Rate{1e9}, Seconds{1e-6},
               "made");
  machine.join(hubs[0], hubs[1], bridge, Seconds{1e-6}, "made");
  for (int i = 0; i < 4; ++i)
    machine.join(hubs[size_t(i / 2)],
                 machine.add_gpu("gpu" + std::to_string(i), i, "made"), Rate{1e12},
                 Seconds{1e-6}, "made");
  return Topology{machine.description()};
}

// All data is on the first pair, with a bridge of 1 GB/s. In the 69 ms that this pair
// needs alone, 69 MB of the 134 MB of each of A and B together reach the other pair: at
// most 0.26 of each, which, with half of C on its way back, suffices for 0.18 of the
// work. Each GPU of the other pair alone would need less, since both can touch the same
// data.
TEST_F(LowerBound, TheJointNeedOfAnIslandLoadsTheBridge) {
  const Topology narrow = two_islands(Rate{1e9}), wide = two_islands(Rate{1e12});
  GemmProblem p = gemm(4096, 4096, 4096);
  p.place_a = p.place_b = p.place_c = narrow.gpus()[0];
  p.beta = 0;
  const double work = 2.0 * 4096 * 4096 * 4096 / 1e12;
  EXPECT_NEAR(lower_bound(checked(p), wide, wide.gpus()).time.value, work / 4,
              0.02 * work);
  const Bound bound = lower_bound(checked(p), narrow, narrow.gpus());
  EXPECT_GT(bound.time.value,
            (1 - 0.18) * work / 2 * 0.85);  // lines lie below Loomis and Whitney's curve
  EXPECT_LT(bound.time.value, work / 2);
}

TEST_F(LowerBound, EmptyProblemsTakeNoTime) {
  EXPECT_EQ(bound(gemm(0, 5, 5), 2).time, Seconds{0});
  EXPECT_EQ(bound(gemm(5, 0, 5), 2).binding.kind, TimeUse::nothing);
}

}  // namespace
}  // namespace tilerail
