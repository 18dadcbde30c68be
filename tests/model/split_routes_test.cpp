// Several routes for one pair: each copy is split evenly over them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"
#include "tests/support/machine_rates.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;
using machine_rates::Copies;

/// h -12- s0 -30- g0 and h -20- s1 -30- g0; the shortest path has 20 GB/s. `named`: both
/// are routes.
Topology::Description two_rails(bool named) {
  auto d = memories_and_switches(1, 2);
  add_links(d, "h", "s0", 12), add_links(d, "s0", "g0", 30);
  add_links(d, "h", "s1", 20), add_links(d, "s1", "g0", 30);
  if (!named) return d;
  for (const int rail : {0, 4})
    d.routes.push_back({MemoryId{0}, MemoryId{1}, {LinkId{rail}, LinkId{rail + 2}}, "s"});
  return d;
}

TEST(SplitRoutes, ACopyTakesBothRailsAtTheRateOfTheSlower) {
  EXPECT_EQ(route(Topology{two_rails(false)}, "h", "g0"),
            (std::vector<std::string>{"h->s1", "s1->g0"}));
  const Topology t{two_rails(true)};
  EXPECT_EQ(t.parts(MemoryId{0}, MemoryId{1}), 2);
  EXPECT_EQ(route(t, "h", "g0"),
            (std::vector<std::string>{"h->s0", "s0->g0", "h->s1", "s1->g0"}));
  EXPECT_DOUBLE_EQ(machine_rates::alone(t, "h", "g0"), 24);
  EXPECT_DOUBLE_EQ(machine_rates::alone(t, "g0", "h"),
                   20);  // the other direction has no named route
}

TEST(SplitRoutes, TwoCopiesShareBothRails) {
  EXPECT_THAT(
      machine_rates::together(Topology{two_rails(true)}, {{"h", "g0"}, {"h", "g0"}}),
      ::testing::Each(::testing::DoubleNear(12, 1e-9)));
}

// A second host has one path to g0; each rail carries half of h's half.
TEST(SplitRoutes, AreMadeOfPartsTogetherWithHosts) {
  auto d = two_rails(true);
  add_host(d, "far");
  add_links(d, "far", "s0", 7);
  const Topology t{d};
  EXPECT_EQ(t.parts(memory(t, "h*"), memory(t, "g0")), 4);
  EXPECT_DOUBLE_EQ(machine_rates::alone(t, "h*", "g0"), 14);  // half of it from `far`
}

TEST(SplitRoutes, AShareIsANumberOfParts) {
  auto d = two_rails(true);
  d.routes[0].share = 2, d.routes[1].share = 4;  // one part over 12 GB/s, two over 20
  const Topology t{d};
  EXPECT_EQ(t.parts(MemoryId{0}, MemoryId{1}), 3);
  EXPECT_DOUBLE_EQ(machine_rates::alone(t, "h", "g0"), 30);
  ASSERT_EQ(t.route_shares(MemoryId{0}, MemoryId{1}).size(), 2U);
  EXPECT_EQ(t.route_shares(MemoryId{0}, MemoryId{1})[1].share, 2);
  EXPECT_TRUE(t.route_shares(MemoryId{1}, MemoryId{0}).empty());
  d.routes.pop_back();  // a single route carries all parts
  EXPECT_EQ(Topology{d}.parts(MemoryId{0}, MemoryId{1}), 1);
  d.routes[0].share = 0;
  expect_input_error([&] { Topology{d}; },
                     {"route 'h' to 'g0'", "share: '0' is out of range"});
}

/// h and g0, joined by this many switches with 10 GB/s each.
Topology::Description rails(int count) {
  auto d = memories_and_switches(1, count);
  for (int rail = 0; rail < count; ++rail)
    add_links(d, "h", "s" + std::to_string(rail), 10),
        add_links(d, "s" + std::to_string(rail), "g0", 10);
  return d;
}

TEST(SplitRoutes, AllPathsOfTheLeastTimeCarryAPart) {
  auto d = rails(3);
  add_links(d, "h", "s0", 10);  // a fourth path, parallel to the first
  d.split_paths = true;
  const Topology t{d};
  EXPECT_EQ(t.parts(MemoryId{0}, MemoryId{1}), 4);
  EXPECT_DOUBLE_EQ(machine_rates::alone(t, "h", "g0"), 20);  // two of four parts over s0
  d.split_paths = false;
  EXPECT_EQ(route(Topology{d}, "h", "g0"), (std::vector<std::string>{"h->s0", "s0->g0"}));
}

TEST(SplitRoutes, MorePartsThanCanBeCountedAreRefused) {
  auto d = rails(17);
  d.split_paths = true;
  expect_input_error([&] { Topology{d}; },
                     {"copies from 'h' to 'g0'", "more than 16 ways"});
  d.split_paths = false;
  for (int rail = 0; rail < 17; ++rail)
    d.routes.push_back(
        {MemoryId{0}, MemoryId{1}, {LinkId{4 * rail}, LinkId{4 * rail + 2}}, "s"});
  expect_input_error([&] { Topology{d}; },
                     {"copies from 'h' to 'g0'", "more than 16 ways"});
  d.routes.pop_back();
  EXPECT_DOUBLE_EQ(machine_rates::alone(Topology{d}, "h", "g0"), 160);
  for (int rail = 0; rail < 5; ++rail)
    d.routes.push_back(
        {MemoryId{1}, MemoryId{0}, {LinkId{4 * rail + 3}, LinkId{4 * rail + 1}}, "s"});
  expect_input_error([&] { Topology{d}; }, {"copies from 'g0' to 'h'", "into 5 parts",
                                            "multiple is 80", "expected at most 60"});
}

TEST(SplitRoutes, TheSameLinksTwiceAreRefused) {
  auto d = two_rails(true);
  d.routes.push_back(d.routes.front());
  expect_input_error([&] { Topology{d}; },
                     {"route 'h' to 'g0'", "another route has the same links"});
}

}  // namespace
}  // namespace tilerail
