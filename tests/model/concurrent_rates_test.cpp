#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/machine/concurrent_rates.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machine_rates.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;

/// Rates in GB/s of copies between named memories.
std::vector<double> rates(
    const Topology::Description& d,
    std::initializer_list<std::pair<std::string, std::string>> copies) {
  return machine_rates::together(Topology{d}, copies);
}

void expect_rates(const std::vector<double>& actual,
                  const std::vector<double>& expected) {
  EXPECT_THAT(actual, ::testing::Pointwise(::testing::DoubleNear(1e-9), expected));
}

/// h -12- s0 -10- g0, g1, g2
Topology::Description tree() {
  auto d = memories_and_switches(3, 1);
  add_links(d, "h", "s0", 12);
  for (const char* gpu : {"g0", "g1", "g2"}) add_links(d, "s0", gpu, 10);
  return d;
}

TEST(ConcurrentRates, NoCopiesHaveNoRates) { expect_rates(rates(tree(), {}), {}); }

TEST(ConcurrentRates, ACopyAloneGetsItsPairRate) {
  expect_rates(rates(tree(), {{"h", "g0"}}), {10});
}

TEST(ConcurrentRates, ASharedUplinkIsHalved) {
  expect_rates(rates(tree(), {{"h", "g0"}, {"h", "g1"}}), {6, 6});
}

TEST(ConcurrentRates, OppositeDirectionsDoNotShare) {
  expect_rates(rates(tree(), {{"h", "g0"}, {"g0", "h"}}), {10, 10});
}

// s0->g0 (10) carries the copies from h and from g1: 5 each. The uplink (12) is not full:
// g1 gets the other 12 - 5 = 7.
TEST(ConcurrentRates, OtherCopiesUseTheRestOfALimitedCopy) {
  expect_rates(rates(tree(), {{"h", "g0"}, {"g2", "g0"}, {"h", "g1"}}), {5, 5, 7});
}

TEST(ConcurrentRates, AFlowCapBindsEachCopyAlone) {
  auto d = tree();
  d.links[0].per_flow = Rate{5e9};  // h->s0
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}}), {5, 5});
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}, {"h", "g2"}}), {4, 4, 4});
}

TEST(ConcurrentRates, TheLeastFlowCapOfARouteBinds) {
  auto d = tree();
  d.links[0].per_flow = Rate{3e9};  // h->s0
  d.links[2].per_flow = Rate{4e9};  // s0->g0
  d.links[4].per_flow = Rate{2e9};  // s0->g1
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}}), {3, 2});
}

// Limit 2 to g0 only: the uplink's other 10 go to g1.
TEST(ConcurrentRates, ACappedCopyLeavesTheRestOfTheLink) {
  auto d = tree();
  d.links[2].per_flow = Rate{2e9};  // s0->g0
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}}), {2, 10});
}

/// Every GPU has its own 10 GB/s to the host; a group limits their sum.
Topology::Description grouped(std::optional<CapacityCurve> bound,
                              std::optional<CapacityCurve> both_busy) {
  auto d = memories_and_switches(3, 0);
  CapacityGroup group;
  group.name = "host memory";
  group.capacity = std::move(bound);
  group.both_busy = std::move(both_busy);
  for (const char* gpu : {"g0", "g1", "g2"}) {
    const auto [there, back] = add_links(d, "h", gpu, 10);
    group.forward.push_back(there);
    group.backward.push_back(back);
  }
  d.groups.push_back(group);
  return d;
}

TEST(ConcurrentRates, AGroupBoundsTheSumOfItsLinks) {
  const auto d = grouped(capacity(15), std::nullopt);
  expect_rates(rates(d, {{"h", "g0"}}), {10});
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}}), {7.5, 7.5});
  expect_rates(rates(d, {{"h", "g0"}, {"g1", "h"}, {"g2", "h"}}), {5, 5, 5});
}

TEST(ConcurrentRates, TheCapacityOfAGroupFollowsItsNumberOfCopies) {
  const auto d = grouped(
      CapacityCurve{{{1, Rate{8e9}}, {2, Rate{14e9}}, {3, Rate{12e9}}}}, std::nullopt);
  expect_rates(rates(d, {{"h", "g0"}}), {8});
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}}), {7, 7});
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}, {"h", "g2"}}), {4, 4, 4});
}

TEST(ConcurrentRates, BothBusyBoundsOnlyOppositeCopies) {
  const auto d = grouped(capacity(18), capacity(12));
  expect_rates(rates(d, {{"h", "g0"}, {"h", "g1"}}), {9, 9});
  expect_rates(rates(d, {{"g0", "h"}, {"g1", "h"}}), {9, 9});
  expect_rates(rates(d, {{"h", "g0"}, {"g1", "h"}}), {6, 6});
  const auto unbounded_one_way = grouped(std::nullopt, capacity(12));
  expect_rates(rates(unbounded_one_way, {{"h", "g0"}, {"h", "g1"}}), {10, 10});
  expect_rates(rates(unbounded_one_way, {{"h", "g0"}, {"g0", "h"}}), {6, 6});
}

// The copy g0 -> g1 loads two links of the group, one of each side, and counts once: with
// the copy h -> g2 the group has two copies, for which the limit is 16, and both sides
// are busy.
TEST(ConcurrentRates, ACopyOverSeveralLinksOfAGroupCountsOnce) {
  auto d = tree();
  CapacityGroup group;
  group.name = "switch";
  group.forward = {LinkId{2}, LinkId{4}, LinkId{6}};   // s0->g0, s0->g1, s0->g2
  group.backward = {LinkId{3}, LinkId{5}, LinkId{7}};  // and back
  group.both_busy = CapacityCurve{{{1, Rate{9e9}}, {2, Rate{16e9}}, {3, Rate{3e9}}}};
  d.groups.push_back(group);
  expect_rates(rates(d, {{"g0", "g1"}}), {9});
  expect_rates(rates(d, {{"g0", "g1"}, {"h", "g2"}}), {8, 8});
}

TEST(ConcurrentRates, EqualCopiesGetEqualRates) {
  const auto seven = rates(tree(), {{"h", "g0"},
                                    {"h", "g0"},
                                    {"h", "g0"},
                                    {"h", "g0"},
                                    {"h", "g0"},
                                    {"h", "g0"},
                                    {"h", "g0"}});
  EXPECT_THAT(seven, ::testing::Each(::testing::DoubleEq(10.0 / 7)));
}

TEST(ConcurrentRates, ACopyWithinAMemoryIsUnbounded) {
  EXPECT_GT(rates(tree(), {{"g0", "g0"}, {"h", "g0"}})[0], 1e300);
  expect_rates({rates(tree(), {{"g0", "g0"}, {"h", "g0"}})[1]}, {10});
}

TEST(ConcurrentRates, APairWithoutARouteIsAnError) {
  auto d = memories_and_switches(2, 0);
  add_links(d, "h", "g0", 10);
  add_links(d, "h", "g1", 10);
  expect_input_error(
      [&] {
        rates(d, {{"g0", "g1"}});
      },
      {"small: no route from 'g0' to 'g1'"});
}

// Many copies on a machine where every limit is reached somewhere: no link exceeds its
// bandwidth, and every copy is limited by some full link.
TEST(ConcurrentRates, AllPairsTogetherFillALinkOfEveryCopy) {
  auto d = tree();
  add_links(d, "g0", "g1", 3);
  const Topology t{d};
  std::vector<std::pair<MemoryId, MemoryId>> flows;
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = 0; b < 4; ++b)
      if (a != b) flows.emplace_back(MemoryId{a}, MemoryId{b});
  const auto shares = concurrent_rates(t, flows);
  std::vector<double> load(t.links().size());
  for (size_t f = 0; f < flows.size(); ++f)
    for (LinkId link : t.route(flows[f].first, flows[f].second))
      load[link.index()] += shares[f].value;
  for (size_t l = 0; l < load.size(); ++l)
    EXPECT_LE(load[l], t.links()[l].bandwidth.value * (1 + 1e-9));
  for (const auto& [a, b] : flows) {
    bool full = false;
    for (LinkId link : t.route(a, b))
      full = full || load[link.index()] > t.link(link).bandwidth.value * (1 - 1e-9);
    EXPECT_TRUE(full);
  }
}

}  // namespace
}  // namespace tilerail
