#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;
using Names = std::vector<std::string>;

/// h - s0 - g0, g1
Topology::Description tree_of_two() {
  auto d = memories_and_switches(2, 1);
  add_links(d, "h", "s0", 10, 5);
  add_links(d, "s0", "g0", 10, 5);
  add_links(d, "s0", "g1", 10, 5);
  return d;
}

TEST(Routing, AUniquePathIsTaken) {
  const Topology t{tree_of_two()};
  EXPECT_EQ(route(t, "h", "g1"), (Names{"h->s0", "s0->g1"}));
  EXPECT_EQ(route(t, "g1", "h"), (Names{"g1->s0", "s0->h"}));
  EXPECT_EQ(route(t, "g0", "g1"), (Names{"g0->s0", "s0->g1"}));
  EXPECT_DOUBLE_EQ(t.latency(memory(t, "h"), memory(t, "g1")).value, 10e-6);
}

TEST(Routing, AMemoryNeedsNoRouteToItself) {
  const Topology t{tree_of_two()};
  EXPECT_TRUE(route(t, "g0", "g0").empty());
  EXPECT_TRUE(t.has_route(memory(t, "g0"), memory(t, "g0")));
  EXPECT_EQ(t.latency(memory(t, "g0"), memory(t, "g0")), Seconds{0});
  EXPECT_GT(t.pair_rate(memory(t, "g0"), memory(t, "g0")), Rate{1e300});
}

// 16 MiB over two links of 10 GB/s and 5 us: 2 (1677.7 + 5) us = 3365.4 us. Over one of 5
// GB/s: 3355.4 us + latency.
TEST(Routing, TheLeastTimeForSixteenMebibytesDecides) {
  auto d = tree_of_two();
  add_links(d, "g0", "g1", 5, 9);  // 3364.4 us
  EXPECT_EQ(route(Topology{d}, "g0", "g1"), (Names{"g0->g1"}));
  d = tree_of_two();
  add_links(d, "g0", "g1", 5, 11);  // 3366.4 us
  EXPECT_EQ(route(Topology{d}, "g0", "g1"), (Names{"g0->s0", "s0->g1"}));
}

// The direct link without latency: 3423.9 us at 4.9 GB/s and 3362.2 us at 4.99 GB/s. For
// 1 MiB the first would win too (214 against 219.7 us), for 64 MiB the second would lose
// (13448.9 against 13431.8 us).
TEST(Routing, SmallerOrLargerCopiesWouldTakeOtherPaths) {
  auto d = tree_of_two();
  add_links(d, "g0", "g1", 4.9);
  EXPECT_EQ(route(Topology{d}, "g0", "g1"), (Names{"g0->s0", "s0->g1"}));
  d = tree_of_two();
  add_links(d, "g0", "g1", 4.99);
  EXPECT_EQ(route(Topology{d}, "g0", "g1"), (Names{"g0->g1"}));
}

TEST(Routing, PathsDoNotPassThroughMemories) {
  auto d = memories_and_switches(3, 0);
  for (const char* gpu : {"g0", "g1", "g2"}) add_links(d, "h", gpu, 10);
  add_links(d, "g0", "g1", 100);
  add_links(d, "g1", "g2", 100);
  const Topology t{d};
  EXPECT_TRUE(t.has_route(memory(t, "g0"), memory(t, "g1")));
  EXPECT_FALSE(t.has_route(memory(t, "g0"), memory(t, "g2")));  // only through g1 or h
  expect_input_error([&] { t.pair_rate(memory(t, "g0"), memory(t, "g2")); },
                     {"no route from 'g0' to 'g2'"});
}

TEST(Routing, AFastPathThroughAnotherGpuIsNotTaken) {
  auto d = tree_of_two();
  add_links(d, "h", "g0", 100);
  add_links(d, "g0", "g1", 100);
  EXPECT_EQ(route(Topology{d}, "h", "g1"), (Names{"h->s0", "s0->g1"}));
}

TEST(Routing, NamedRoutesWinOverShorterOnes) {
  auto d = tree_of_two();
  add_links(d, "g0", "g1", 100);
  const Topology shortest{d};
  EXPECT_EQ(route(shortest, "g0", "g1"), (Names{"g0->g1"}));
  const auto by_switch = {LinkId{3}, LinkId{4}};  // g0->s0, s0->g1
  d.routes.push_back({MemoryId{1}, MemoryId{2}, by_switch});
  const Topology named{d};
  EXPECT_EQ(route(named, "g0", "g1"), (Names{"g0->s0", "s0->g1"}));
  EXPECT_EQ(route(named, "g1", "g0"), (Names{"g1->g0"}));
}

TEST(Routing, APairWhoseRouteHasNoLinksHasNoCopies) {
  auto d = tree_of_two();
  add_links(d, "g0", "g1", 100);
  d.routes.push_back({MemoryId{1}, MemoryId{2}, {}});
  const Topology t{d};
  EXPECT_FALSE(t.has_route(memory(t, "g0"), memory(t, "g1")));
  EXPECT_EQ(route(t, "g1", "g0"), (Names{"g1->g0"}));
  EXPECT_TRUE(t.has_route(memory(t, "h"), memory(t, "g1")));
}

// Two equal paths, over s0 (links 0 to 3) and over s1 (4 to 7), added in either order.
TEST(Routing, OfEqualPathsTheOneWithTheLowestLinkIdIsTaken) {
  for (const bool swapped : {false, true}) {
    auto d = memories_and_switches(1, 2);
    for (const char* way : {swapped ? "s1" : "s0", swapped ? "s0" : "s1"}) {
      add_links(d, "h", way, 10, 0.1);
      add_links(d, way, "g0", 10, 0.2);
    }
    EXPECT_EQ(route(Topology{d}, "h", "g0"),
              swapped ? (Names{"h->s1", "s1->g0"}) : (Names{"h->s0", "s0->g0"}));
  }
}

TEST(Routing, ParallelLinksAreNumberedAndTheFirstOfEqualsIsTaken) {
  auto d = memories_and_switches(1, 0);
  add_links(d, "h", "g0", 10);
  add_links(d, "h", "g0", 10);
  EXPECT_EQ(Topology{d}.links()[2].name, "h->g0#2");
  EXPECT_EQ(route(Topology{d}, "h", "g0"), Names{"h->g0"});
  d.links[2].bandwidth = Rate{20e9};
  EXPECT_EQ(route(Topology{d}, "h", "g0"), Names{"h->g0#2"});
}

TEST(Routing, GroupsOnARouteAreListedOnceWithTheirSides) {
  auto d = tree_of_two();
  CapacityGroup uplink;
  uplink.name = "switch";
  uplink.capacity = capacity(15);
  uplink.forward = {LinkId{2}, LinkId{4}};   // s0->g0, s0->g1
  uplink.backward = {LinkId{3}, LinkId{5}};  // g0->s0, g1->s0
  d.groups.push_back(uplink);
  const Topology t{d};
  const auto down = t.groups_on(memory(t, "h"), memory(t, "g0"));
  ASSERT_EQ(down.size(), 1u);
  EXPECT_TRUE(down[0].forward && !down[0].backward);
  const auto up = t.groups_on(memory(t, "g0"), memory(t, "h"));
  ASSERT_EQ(up.size(), 1u);
  EXPECT_TRUE(!up[0].forward && up[0].backward);
  const auto peer = t.groups_on(memory(t, "g0"), memory(t, "g1"));
  ASSERT_EQ(peer.size(), 1u);
  EXPECT_TRUE(peer[0].forward && peer[0].backward);
}

TEST(Routing, PairRateIsTheLeastOfLinksFlowCapsAndGroups) {
  auto d = tree_of_two();
  EXPECT_EQ(Topology{d}.pair_rate(MemoryId{0}, MemoryId{1}), Rate{10e9});
  d.links[0].per_flow = Rate{9e9};  // h->s0
  EXPECT_EQ(Topology{d}.pair_rate(MemoryId{0}, MemoryId{1}), Rate{9e9});
  CapacityGroup host;
  host.name = "host";
  host.forward = {LinkId{0}};
  host.capacity = CapacityCurve{{{1, Rate{7e9}}, {2, Rate{14e9}}}};
  d.groups.push_back(host);
  EXPECT_EQ(Topology{d}.pair_rate(MemoryId{0}, MemoryId{1}), Rate{7e9});
  EXPECT_EQ(Topology{d}.pair_rate(MemoryId{1}, MemoryId{0}), Rate{10e9});
}

TEST(Topology, GpusAreListedByNumber) {
  auto d = tree_of_two();
  d.memories[1].processor->device = 7;
  d.memories[2].processor->device = 3;
  const Topology t{d};
  EXPECT_EQ(t.gpus(), (std::vector{MemoryId{2}, MemoryId{1}}));
  EXPECT_EQ(t.hosts(), std::vector{MemoryId{0}});
  EXPECT_EQ(t.find_gpu(7), MemoryId{1});
  EXPECT_EQ(t.find_gpu(0), std::nullopt);
  EXPECT_EQ(t.find_memory("s0"), std::nullopt);
}

}  // namespace
}  // namespace tilerail
