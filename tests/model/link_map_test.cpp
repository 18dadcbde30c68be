#include "model/published/link_map.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "model/machine/topology_toml.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using test::shipped;

constexpr MemoryId m0{0}, m1{1}, m2{2}, m3{3};

TEST(LinkMap, SlowdownOfTwoCopiesFollowsMaxMinFairSharing) {
  for (const char* name : {"two-gpu", "clx-ai", "summit-node", "pcie-tree-8",
                           "karolina-hgx-a100", "hgx-h200"}) {
    const Topology t = shipped(name);
    const size_t count = t.memories().size();
    for (size_t i = 0; i < count * count; ++i)
      for (size_t j = 0; j < count * count; j += 7) {
        const MemoryPair of{MemoryId{i / count}, MemoryId{i % count}},
            by{MemoryId{j / count}, MemoryId{j % count}};
        if (of.src == of.dst || by.src == by.dst || !t.has_route(of.src, of.dst) ||
            !t.has_route(by.src, by.dst))
          continue;
        const std::array both{std::pair{of.src, of.dst}, std::pair{by.src, by.dst}};
        const double expected =
            t.pair_rate(of.src, of.dst).value / concurrent_rates(t, both)[0].value;
        ASSERT_NEAR(pair_slowdown(t, of, by), expected, 1e-9)
            << name << " " << i << " " << j;
      }
  }
}

TEST(LinkMap, HasTheRoutesOfAMachine) {
  const Topology t =
      shipped("two-gpu");  // 12 GB/s from the host, 10 shared; 40 GB/s between the GPUs
  const LinkMap map{t};
  for (size_t s = 0; s < 3; ++s)
    for (size_t d = 0; d < 3; ++d) {
      const MemoryPair pair{MemoryId{s}, MemoryId{d}};
      EXPECT_DOUBLE_EQ(map.per_byte(pair).value,
                       s == d ? 0 : 1 / t.pair_rate(pair.src, pair.dst).value);
      EXPECT_DOUBLE_EQ(map.latency(pair).value,
                       s == d ? 0 : t.latency(pair.src, pair.dst).value);
    }
}

/// 0 is the host; these links in GB/s, latency 1 us.
LinkMap measured(std::initializer_list<std::tuple<MemoryId, MemoryId, double>> links,
                 std::initializer_list<LinkMap::Slowdown> slowdowns = {}) {
  std::vector<LinkMap::Link> all;
  for (const auto& [src, dst, rate] : links)
    all.push_back({{src, dst}, Seconds{1e-6}, Rate{rate * 1e9}});
  return {4, all, std::span{slowdowns.begin(), slowdowns.size()}};
}

TEST(LinkMap, MeasuredSlowdownsAreTakenBetween1And2) {
  const LinkMap map =
      measured({{m0, m1, 10}}, {{{m0, m1}, {m0, m2}, 3.5}, {{m0, m1}, {m0, m3}, 0.9}});
  EXPECT_DOUBLE_EQ(map.slowdown({m0, m1}, {m0, m2}), 2);
  EXPECT_DOUBLE_EQ(map.slowdown({m0, m1}, {m0, m3}), 1);
  EXPECT_DOUBLE_EQ(map.slowdown({m0, m2}, {m0, m1}), 1);
  EXPECT_FALSE(map.has({m1, m0}));
}

TEST(SharedLinks, SlowdownsAddUp) {
  // The host's copies to 1, 2 and 3 halve each other: a third of the bandwidth each.
  const LinkMap map = measured(
      {{m0, m1, 12}, {m0, m2, 12}, {m0, m3, 12}},
      {{{m0, m1}, {m0, m2}, 2}, {{m0, m1}, {m0, m3}, 2}, {{m0, m2}, {m0, m1}, 1.5}});
  const std::vector devices{m1, m2, m3}, read{m0};
  SharedLinks links{map, devices, read, {}, Bytes{0}, 0};
  links.activate(std::array<size_t, 3>{0, 1, 2});
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, 3 / 12e9);
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m2).value, 1.5 / 12e9);
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m3).value, 1 / 12e9);
  links.activate(std::array<size_t, 2>{0, 2});
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, 2 / 12e9);
  EXPECT_DOUBLE_EQ(links.per_byte(m1, m1).value, 0);
}

TEST(SharedLinks, SlowLinksAreReplacedBySeriesOfFasterOnes) {
  // The example of thesis 3.2.2: 0 -> 1 at 1 GB/s, 0 -> 2 at 3, shared with reads of 2,
  // and 2 -> 1 at 4.
  const LinkMap map = measured({{m0, m1, 1}, {m0, m2, 3}, {m2, m1, 4}});
  const std::vector devices{m1, m2}, read{m0};
  SharedLinks links{map, devices, read, {}, Bytes{32e6}, 1};
  const std::array<size_t, 2> both{0, 1};
  links.activate(both);
  EXPECT_EQ(links.hops(m0, m1), std::vector{m2});
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, 2 / 3e9 + 1 / 4e9);
  EXPECT_DOUBLE_EQ(links.latency(m0, m1).value, 2e-6);
  EXPECT_TRUE(links.hops(m0, m2).empty());
  links.activate(std::array<size_t, 1>{0});
  EXPECT_TRUE(links.hops(m0, m1).empty()) << "2 is not active";
  SharedLinks tiny{map, devices, read, {}, Bytes{100}, 1};
  tiny.activate(both);
  EXPECT_TRUE(tiny.hops(m0, m1).empty()) << "100 bytes are all latency";
}

TEST(SharedLinks, MoreHopsAreUsedIfAllowed) {
  const LinkMap map = measured({{m0, m1, 1}, {m0, m2, 30}, {m2, m3, 30}, {m3, m1, 30}});
  const std::vector devices{m1, m2, m3}, read{m0};
  const std::array<size_t, 3> all{0, 1, 2};
  for (const int hops : {0, 1}) {
    SharedLinks links{map, devices, read, {}, Bytes{32e6}, hops};
    links.activate(all);
    EXPECT_TRUE(links.hops(m0, m1).empty());
  }
  for (const int hops : {2, 3}) {
    SharedLinks links{map, devices, read, {}, Bytes{32e6}, hops};
    links.activate(all);
    EXPECT_EQ(links.hops(m0, m1), (std::vector{m2, m3}));
    EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, (2 + 1 + 1) / 30e9);
  }
}

TEST(SharedLinks, BottleneckRuleTakesThePathWithTheWiderNarrowestLink) {
  // Links of 3 and 4 next to a direct link of 2: the sum of their times is larger, but
  // the narrower one counts as 0.8 * 3 > 2.
  const LinkMap map = measured({{m0, m1, 2}, {m0, m2, 3}, {m2, m1, 4}});
  const std::vector devices{m1, m2}, read{m0};
  const std::array<size_t, 2> both{0, 1};
  SharedLinks added{map, devices, read, {}, Bytes{32e6}, 1};
  added.activate(both);
  EXPECT_TRUE(added.hops(m0, m1).empty());
  SharedLinks bottleneck{map, devices, read, {}, Bytes{32e6}, 1, HopRule::bottleneck};
  bottleneck.activate(both);
  EXPECT_EQ(bottleneck.hops(m0, m1), std::vector{m2});
  EXPECT_DOUBLE_EQ(bottleneck.per_byte(m0, m1).value, 1 / (0.8 * 3e9));
  EXPECT_DOUBLE_EQ(bottleneck.latency(m0, m1).value, 2e-6);
  EXPECT_TRUE(bottleneck.hops(m0, m2).empty());
  bottleneck.activate(std::array<size_t, 1>{0});
  EXPECT_TRUE(bottleneck.hops(m0, m1).empty()) << "2 is not active";
  SharedLinks no_hops{map, devices, read, {}, Bytes{32e6}, 0, HopRule::bottleneck};
  no_hops.activate(both);
  EXPECT_TRUE(no_hops.hops(m0, m1).empty());
}

TEST(SharedLinks, BottleneckRuleKeepsALinkUnlessTheOtherPathIsAQuarterWider) {
  const std::vector devices{m1, m2}, read{m0};
  for (const double narrower : {2.4, 2.6}) {
    const LinkMap map = measured({{m0, m1, 2}, {m0, m2, narrower}, {m2, m1, 40}});
    SharedLinks links{map, devices, read, {}, Bytes{0}, 4, HopRule::bottleneck};
    links.activate(std::array<size_t, 2>{0, 1});
    EXPECT_EQ(links.hops(m0, m1).empty(), narrower < 2.5) << narrower;
  }
}

// Three links of 5 GB/s count as 0.8^2 x 5 = 3.2, two of 3 and 4 as 2.4, the direct link
// as 2.
TEST(SharedLinks, BottleneckRuleTakesSeriesUpToTheLimitOfHops) {
  const LinkMap map =
      measured({{m0, m1, 2}, {m0, m2, 5}, {m2, m3, 5}, {m3, m1, 5}, {m2, m1, 3}});
  const std::vector devices{m1, m2, m3}, read{m0};
  const std::vector<std::pair<int, double>> expected{
      {0, 2}, {1, 2.4}, {2, 3.2}, {3, 3.2}, {4, 3.2}};
  for (const auto& [hops, rate] : expected) {
    SharedLinks links{map, devices, read, {}, Bytes{32e6}, hops, HopRule::bottleneck};
    links.activate(std::array<size_t, 3>{0, 1, 2});
    EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, 1 / (rate * 1e9)) << hops;
    EXPECT_EQ(links.hops(m0, m1).size(), size_t(std::min(hops, 2)));
    EXPECT_DOUBLE_EQ(links.latency(m0, m1).value, (1 + std::min(hops, 2)) * 1e-6);
  }
}

TEST(SharedLinks, BottleneckRuleSharesALinkWithTheWorstReaderOnly) {
  // Three readers of the host: copies back to it cause no slowdown; the other two readers
  // count once, with the worst of them.
  const LinkMap map = measured(
      {{m0, m1, 12}, {m0, m2, 12}, {m0, m3, 12}, {m1, m0, 12}},
      {{{m0, m1}, {m0, m2}, 1.5}, {{m0, m1}, {m0, m3}, 1.25}, {{m0, m1}, {m1, m0}, 2}});
  const std::vector devices{m1, m2, m3}, host{m0};
  SharedLinks links{map, devices, host, host, Bytes{0}, 1, HopRule::bottleneck};
  links.activate(std::array<size_t, 3>{0, 1, 2});
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, 1.5 / 12e9);
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m2).value, 1 / 12e9);
  links.activate(std::array<size_t, 2>{0, 2});
  EXPECT_DOUBLE_EQ(links.per_byte(m0, m1).value, 1.25 / 12e9);
}

TEST(SharedLinks, HopsNeverMakeAPairSlower) {
  for (const char* name : {"clx-ai", "summit-node", "pcie-tree-8", "hgx-h200"}) {
    const Topology t = shipped(name);
    const LinkMap map{t};
    std::vector<size_t> all;
    for (size_t d = 0; d < t.gpus().size(); ++d) all.push_back(d);
    for (const HopRule rule : {HopRule::added, HopRule::bottleneck})
      for (const MemoryId home : {t.hosts()[0], t.gpus()[0], t.gpus().back()})
        for (const Bytes bytes : {Bytes{1e3}, Bytes{1e6}, Bytes{32e6}}) {
          const std::array places{home};
          std::vector<SharedLinks> by_hops;
          for (int hops = 0; hops <= SharedLinks::most_hops; ++hops) {
            by_hops.emplace_back(map, t.gpus(), places, places, bytes, hops, rule);
            by_hops.back().activate(all);
            for (const MemoryId src : t.gpus())
              for (const MemoryId dst : t.gpus()) {
                const auto time = [&](const SharedLinks& l) {
                  const Seconds flow = bytes * l.per_byte(src, dst);
                  return rule == HopRule::added ? l.latency(src, dst) + flow
                                                : flow;  // in the terms of each rule
                };
                EXPECT_LE(time(by_hops.back()),
                          time(by_hops[std::max(0, hops - 1)]) * (1 + 1e-12));
                EXPECT_LE(by_hops.back().hops(src, dst).size(), size_t(hops));
              }
          }
        }
  }
}

}  // namespace
}  // namespace tilerail::testing
