#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/machine/concurrent_rates.hpp"
#include "tests/support/machine_rates.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;
using machine_rates::expect_rates;

/// Three GPUs, 10 GB/s each way; 12 GB/s in total while both directions are busy, of
/// which copies into GPUs get this share.
Topology::Description shared(double share) {
  auto d = memories_and_switches(3, 0);
  CapacityGroup group;
  group.name = "host memory", group.source = "s";
  group.both_busy = capacity(12), group.forward_share = share;
  for (const char* gpu : {"g0", "g1", "g2"}) {
    const auto [there, back] = add_links(d, "h", gpu, 10);
    group.forward.push_back(there), group.backward.push_back(back);
  }
  d.groups.push_back(group);
  return d;
}

TEST(ForwardShare, DividesTheBoundBetweenTheSides) {
  expect_rates(shared(0.25), {{"h", "g0"}, {"g1", "h"}}, {3, 9});
  expect_rates(shared(0.75), {{"h", "g0"}, {"g1", "h"}}, {9, 3});
  expect_rates(shared(0.25), {{"h", "g0"}, {"h", "g2"}, {"g1", "h"}}, {1.5, 1.5, 9});
}

TEST(ForwardShare, DoesNotCountWhileOneSideIsIdle) {
  expect_rates(shared(0.25), {{"h", "g0"}}, {10});
  expect_rates(shared(0.25), {{"h", "g0"}, {"h", "g1"}}, {10, 10});
  expect_rates(shared(0.25), {{"g0", "h"}, {"g1", "h"}}, {10, 10});
}

// One copy into a GPU is limited to 2 GB/s: the other direction gets 10, not 9.
TEST(ForwardShare, LeavesUnusedCapacityToTheOtherSide) {
  auto d = shared(0.25);
  d.links[0].per_flow = Rate{2 * giga};
  expect_rates(d, {{"h", "g0"}, {"g1", "h"}}, {2, 10});
}

TEST(ForwardShare, ACopyOverBothSidesSharesWithNoOtherCopy) {
  const auto bounds = shared(0.25).groups.at(0).bounds({1, 1, 1, 10 * giga, 10 * giga});
  EXPECT_EQ(bounds.all, Rate{12 * giga});
  EXPECT_TRUE(std::isinf(bounds.forward.value) && std::isinf(bounds.backward.value));
}

TEST(ForwardShare, BoundsOfAGroupAreTheShareOrTheRestOfTheOtherSide) {
  const CapacityGroup group = shared(0.25).groups.at(0);
  const auto bounds = [&](double forward_demand, double backward_demand) {
    return group.bounds({2, 1, 1, forward_demand * giga, backward_demand * giga});
  };
  EXPECT_EQ(bounds(10, 10).all, Rate{12 * giga});
  EXPECT_EQ(bounds(10, 10).forward, Rate{3 * giga});
  EXPECT_EQ(bounds(10, 10).backward, Rate{9 * giga});
  EXPECT_EQ(bounds(10, 4).forward, Rate{8 * giga});
  EXPECT_EQ(bounds(1, 10).backward, Rate{11 * giga});
  const auto one_side = group.bounds({2, 2, 0, 20 * giga, 0});
  EXPECT_FALSE(std::isfinite(one_side.all.value));
  EXPECT_FALSE(std::isfinite(one_side.forward.value));
}

TEST(ForwardShare, AbsentMeansThatAllCopiesAreEqual) {
  auto d = shared(0.25);
  d.groups[0].forward_share.reset();
  expect_rates(d, {{"h", "g0"}, {"h", "g2"}, {"g1", "h"}}, {4, 4, 4});
}

}  // namespace
}  // namespace tilerail
