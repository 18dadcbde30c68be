// Two hosts as one place: loaded links and groups, their parts of the bytes, and the
// resulting rates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/expect_error.hpp"
#include "tests/support/machine_rates.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail {
namespace {

using namespace small_machine;
using machine_rates::expect_rates;

TEST(InterleavedPages, AreAMemoryIfThereAreSeveralHosts) {
  const Topology t{two_hosts()};
  EXPECT_EQ(t.description().memories.size(), 4U);
  EXPECT_EQ(t.memories().size(), 5U);
  EXPECT_EQ(t.hosts().size(), 2U);
  const MemoryId all = memory(t, "h*");
  EXPECT_TRUE(t.is_host(all));
  EXPECT_THAT(t.parts_of(all), ::testing::ElementsAre(memory(t, "h0"), memory(t, "h1")));
  EXPECT_FALSE(machine_rates::shipped("clx-ai").find_memory("h*"));
}

// A second machine from the description is equal, without duplicates.
TEST(InterleavedPages, AreNotPartOfTheDescription) {
  const Topology t{two_hosts()};
  EXPECT_EQ(Topology{t.description()}.memories().size(), t.memories().size());
}

TEST(InterleavedPages, LoadEachLinkWithThePartsThatCrossIt) {
  const Topology t{two_hosts()};
  const MemoryId all = memory(t, "h*"), g0 = memory(t, "g0");
  EXPECT_EQ(t.parts(all, g0), 2);
  std::map<std::string, int> parts;
  for (const auto& use : t.links_on(all, g0)) parts[t.link(use.link).name] = use.parts;
  EXPECT_EQ(parts, (std::map<std::string, int>{
                       {"h0->s0", 1}, {"s0->g0", 2}, {"h1->s1", 1}, {"s1->s0", 1}}));
  EXPECT_EQ(route(t, "h*", "g0"),
            (std::vector<std::string>{"h0->s0", "s0->g0", "h1->s1", "s1->s0"}));
  EXPECT_EQ(t.parts(memory(t, "h0"), g0), 1);
}

// 20 from h0; 8 from h1, over the bridge. Half of the bytes cross the bridge, hence 16 in
// total, 8 from each.
TEST(InterleavedPages, TheSlowestPartBoundsACopy) {
  expect_rates(two_hosts(), {{"h0", "g0"}}, {20});
  expect_rates(two_hosts(), {{"h1", "g0"}}, {8});
  expect_rates(two_hosts(), {{"h*", "g0"}}, {16});
  expect_rates(two_hosts(), {{"g0", "h*"}}, {16});
  EXPECT_DOUBLE_EQ(machine_rates::alone(Topology{two_hosts()}, "h*", "g1"), 16);
}

// Each host sends half of both copies: 8 + 8 of its 20. With a third copy, from h0 alone,
// x/2 + y/2 + z = 20 there.
TEST(InterleavedPages, CopiesShareLinksByTheirParts) {
  expect_rates(two_hosts(), {{"h*", "g0"}, {"h*", "g1"}}, {16, 16});
  expect_rates(two_hosts(), {{"h*", "g0"}, {"h*", "g1"}, {"h0", "g0"}}, {10, 10, 10});
  // h0 is full at 40/3 each; without its second copy the first would get 16.
  expect_rates(two_hosts(), {{"h*", "g1"}, {"h0", "g0"}}, {40.0 / 3, 40.0 / 3});
}

TEST(InterleavedPages, ACapOfOneCopyBindsItsPart) {
  auto d = two_hosts();
  d.links[4].per_flow = Rate{6e9};  // h1->s1
  expect_rates(d, {{"h*", "g1"}}, {12});
  EXPECT_DOUBLE_EQ(machine_rates::alone(Topology{d}, "h*", "g1"), 12);
}

// The group of h0: 6 GB/s for one copy, 9 for two. The limit is 6 for half a copy and for
// two halves, 7.5 for one and a half.
TEST(InterleavedPages, ACopyCountsInAGroupByItsParts) {
  auto d = two_hosts();
  add_group(d, "memory 0", {LinkId{0}}).capacity = capacity({{1, 6}, {2, 9}});
  expect_rates(d, {{"h*", "g0"}}, {12});
  expect_rates(d, {{"h*", "g0"}, {"h*", "g1"}}, {6, 6});
  expect_rates(d, {{"h*", "g0"}, {"h0", "g0"}}, {5, 5});
}

TEST(InterleavedPages, TheSlowestPartSetsTheLatency) {
  auto d = two_hosts();
  d.links[0].latency = Seconds{1e-6},
  d.links[4].latency = Seconds{2e-6};  // h0->s0, h1->s1
  for (const size_t bridge : {8, 9})
    d.links[bridge].latency = Seconds{5e-6};  // s0->s1, s1->s0
  const Topology t{d};
  EXPECT_DOUBLE_EQ(t.latency(memory(t, "h*"), memory(t, "g0")).value, 7e-6);
  EXPECT_DOUBLE_EQ(t.latency(memory(t, "h*"), memory(t, "g1")).value, 6e-6);
}

TEST(InterleavedPages, NeedARouteForEveryPart) {
  auto d = two_hosts();
  d.links.resize(8);  // no bridge
  const Topology t{d};
  EXPECT_TRUE(t.has_route(memory(t, "h0"), memory(t, "g0")));
  EXPECT_FALSE(t.has_route(memory(t, "h*"), memory(t, "g0")));
  expect_input_error([&] { t.pair_rate(memory(t, "h*"), memory(t, "g0")); },
                     {"no route from 'h*' to 'g0'"});
}

}  // namespace
}  // namespace tilerail
