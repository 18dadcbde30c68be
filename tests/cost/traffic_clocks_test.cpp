// two-gpu: 12 GB/s from the host to the switch, 10 GB/s from there to each GPU, 5 us
// each; 40 GB/s between the GPUs.
#include "cost/traffic_clocks.hpp"

#include <gtest/gtest.h>

#include "tests/support/machines.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

constexpr MemoryId host{0}, gpu0{1}, gpu1{2};
constexpr double gigabyte = 1e9, us = 1e-6;

struct Clocks {
  explicit Clocks(Topology on) : machine{std::move(on)} {}
  Topology machine;
  Resources resources{machine};
  TrafficClocks traffic{machine, resources, machine.gpus()};

  double run(MemoryId src, MemoryId dst, double bytes, double start,
             double efficiency = 1) {
    return traffic.run({src, dst, Bytes{bytes}, efficiency}, Seconds{start}).value;
  }
};

TEST(TrafficClocks, ACopyAloneTakesItsLatencyAndItsTimeOnTheNarrowestLink) {
  Clocks c{testing::shipped("two-gpu")};
  EXPECT_NEAR(c.run(host, gpu0, gigabyte, 2), 2 + 10 * us + 0.1, 1e-12);
}

TEST(TrafficClocks, AStridedCopyIsSlowerButLoadsLinksAsAPackedOne) {
  Clocks c{testing::shipped("two-gpu")};
  EXPECT_NEAR(c.run(host, gpu0, gigabyte, 0, 0.5), 10 * us + 0.2, 1e-12);
  EXPECT_NEAR(c.traffic.busy()[0].time.value, 1 / 12., 1e-12);  // host->pcie0
}

// From the host to both GPUs: 2 GB over 12 GB/s. The second copy starts during the first.
TEST(TrafficClocks, ALinkServesCopiesOneAfterAnother) {
  Clocks c{testing::shipped("two-gpu")};
  c.run(host, gpu0, gigabyte, 0);
  EXPECT_NEAR(c.run(host, gpu1, gigabyte, 0), 2 / 12., 1e-12);
  EXPECT_NEAR(c.run(gpu0, gpu1, gigabyte, 0), 5 * us + 1 / 40., 1e-12)
      << "a link of their own";
  EXPECT_NEAR(c.run(gpu0, host, gigabyte, 0), 10 * us + 0.1, 1e-12) << "full duplex";
}

TEST(TrafficClocks, ACopyOnAnIdleLinkStartsImmediately) {
  Clocks c{testing::shipped("two-gpu")};
  c.run(host, gpu0, gigabyte, 0);
  EXPECT_NEAR(c.run(host, gpu1, gigabyte, 5), 5 + 10 * us + 0.1, 1e-12);
}

TEST(TrafficClocks, EachLinkHasItsBusyTimeAndUsers) {
  Clocks c{testing::shipped("two-gpu")};
  c.traffic.run({host, gpu0, Bytes{gigabyte}, 1}, Seconds{0});
  c.traffic.run({host, gpu1, Bytes{2 * gigabyte}, 1}, Seconds{0});
  const auto busy = c.traffic.busy();
  EXPECT_NEAR(busy[0].time.value, 3 / 12., 1e-12);
  EXPECT_TRUE(busy[0].users.all());
  for (const auto& [time, users] : busy) {
    if (users.count() != 1) continue;
    EXPECT_NEAR(time.value, users.test(0) ? 0.1 : 0.2, 1e-12) << "links of one GPU";
  }
}

/// A host with a link of 10 GB/s each way to a GPU; both directions together get
/// `capacity` GB/s, or 12, half per direction.
Topology both_ways(double capacity = 0) {
  auto d = small_machine::memories_and_switches(1, 0);
  const auto [there, back] = small_machine::add_links(d, "h", "g0", 10);
  CapacityGroup group;
  group.name = "pcie", group.source = "s", group.forward = {there},
  group.backward = {back};
  if (capacity > 0)
    group.capacity = CapacityCurve{{{1, Rate{capacity * 1e9}}}};
  else
    group.both_busy = CapacityCurve{{{1, Rate{12e9}}}};
  d.groups = {group};
  return Topology{d};
}

// 1 GB there and 2 GB back: at 6 GB/s each until the first ends after 1/6 s, then 1 GB
// alone at 10 GB/s.
TEST(TrafficClocks, BothDirectionsShareUntilTheLesserIsDone) {
  Clocks c{both_ways()};
  EXPECT_NEAR(c.run(host, gpu0, gigabyte, 0), 0.1, 1e-12) << "nothing comes back yet";
  EXPECT_NEAR(c.run(gpu0, host, 2 * gigabyte, 0), 1 / 6. + 0.1, 1e-12);
}

TEST(TrafficClocks, AGroupIsNoFasterThanItsCapacity) {
  Clocks c{both_ways(8)};
  EXPECT_NEAR(c.run(host, gpu0, gigabyte, 0), 1 / 8., 1e-12);
  EXPECT_NEAR(c.run(gpu0, host, gigabyte, 0), 2 / 8., 1e-12)
      << "both directions together";
}

}  // namespace
}  // namespace tilerail
