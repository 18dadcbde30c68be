// The bound of a product of depth 1 that writes C, 536.9 MB, from two GPUs to the hosts
// of tests/support/two_hosts.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/bound.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail {
namespace {

class BoundOfHomes : public ::testing::Test {
 protected:
  Bound bound(const char* place) const {
    GemmProblem p;
    p.m = p.n = 8192, p.k = 1, p.beta = 0;
    p.place_a = p.place_b = p.place_c = testing::layout(machine, place);
    return lower_bound(checked(p), machine, machine.gpus());
  }
  Topology machine = [] {
    auto d = small_machine::two_hosts();
    d.kernels[0].gemm = {
        small_machine::gemms(DType::f64, {{1024, 1000}})};  // links are the only limit
    return Topology{std::move(d)};
  }();
  static constexpr double c_bytes = 8.0 * 8192 * 8192, precise = 2e-4;
};

TEST_F(BoundOfHomes, OneHostReceivesAllOfC) {
  const Bound b = bound("h0");
  EXPECT_NEAR(b.time.value, c_bytes / 20e9, precise * b.time.value);
  EXPECT_THAT(b.binding, ::testing::FieldsAre(TimeUse::link, "s0->h0", 0));
}

// Half of the data of each GPU goes to the other GPU's host, over 8 GB/s, as does half of
// A and B, 131 kB.
TEST_F(BoundOfHomes, HalfOfInterleavedPagesCrossTheBridge) {
  const Bound b = bound("h*");
  EXPECT_NEAR(b.time.value, c_bytes / 4 / 8e9, 2 * precise * b.time.value);
}

// Each GPU can compute the part that its own host holds.
TEST_F(BoundOfHomes, BlocksNeedNoTrafficBetweenHosts) {
  for (const char* place : {"h/cols", "h/rows"}) {
    const Bound b = bound(place);
    EXPECT_NEAR(b.time.value, c_bytes / 2 / 20e9, 2 * precise * b.time.value)
        << b.binding.name;
  }
}

// The number of blocks changes no bound, and not the time of computing it: 16,384 blocks.
TEST_F(BoundOfHomes, SmallBlocksBoundAsTheSharesOfTheirMemories) {
  const Bound large = bound("cyclic(1x2,4096)@h0+g1"),
              small = bound("cyclic(1x2,64)@h0+g1");
  EXPECT_GT(large.time.value, (1 - precise) * c_bytes / 2 / 20e9);
  EXPECT_NEAR(small.time.value, large.time.value, 2e-5 * large.time.value);
}

}  // namespace
}  // namespace tilerail
