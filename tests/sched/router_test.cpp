// Intermediate memories on the route of a tile.
#include "sched/transport/router.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "plan/validate.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// GPUs with links of 10 GB/s to the host and the given links between GPUs, in GB/s.
Topology rated_machine(int gpus,
                       std::initializer_list<std::tuple<int, int, double>> links) {
  auto d = small_machine::memories_and_switches(gpus, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  const auto name = [](int gpu) { return "g" + std::to_string(gpu); };
  for (int gpu = 0; gpu < gpus; ++gpu) small_machine::add_links(d, "h", name(gpu), 10, 1);
  for (const auto& [from, to, rate] : links)
    small_machine::add_links(d, name(from), name(to), rate, 1);
  return Topology{d};
}

constexpr MemoryId h{0}, g0{1}, g1{2}, g2{3};

TEST(Router, CopiesBetweenGpusGoThroughAHostByTheRule) {
  const Topology machine = rated_machine(3, {{0, 1, 50}});
  const auto through = [&](PeerCopies copies, MemoryId src, MemoryId dst, bool of_home) {
    return leg_between(machine, copies, src, dst, of_home).host;
  };
  EXPECT_EQ(through(PeerCopies::direct, g0, g2, true), std::nullopt);
  EXPECT_EQ(through(PeerCopies::staged, g0, g1, false), h);
  EXPECT_EQ(through(PeerCopies::staged, g0, g0, false), std::nullopt);
  EXPECT_EQ(through(PeerCopies::staged, h, g1, false), std::nullopt);
  EXPECT_EQ(through(PeerCopies::staged_home, g0, g1, false), std::nullopt);
  EXPECT_EQ(through(PeerCopies::staged_home, g0, g1, true), h);
}

/// From g0 to g1, which are near the second host, 8 GB/s over the first and 20 over the
/// second.
TEST(Router, StagesOnTheHostThatIsNear) {
  auto d = small_machine::memories_and_switches(2, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  small_machine::add_host(d, "near");
  constexpr MemoryId near{3};
  for (const char* gpu : {"g0", "g1"}) {
    small_machine::add_links(d, "h", gpu, 8, 1);
    small_machine::add_links(d, "near", gpu, 20, 1);
  }
  EXPECT_EQ(leg_between(Topology{d}, PeerCopies::staged, g0, g1, false).host, near);
  for (Link& link : d.links) link.bandwidth = Rate{20e9};
  EXPECT_EQ(leg_between(Topology{d}, PeerCopies::staged, g0, g1, false).host, h);
}

TEST(Router, ALegExistsWithARouteOrThroughAHost) {
  const Topology machine = rated_machine(3, {{0, 1, 50}});
  EXPECT_TRUE(exists(machine, {g0, g1}));
  EXPECT_FALSE(exists(machine, {g0, g2}));
  EXPECT_TRUE(exists(machine, {g0, g2, h}));
  EXPECT_TRUE(exists(machine, {g2, g2}));
}

// A chain g0 - g1 - g2 - g3: from g0 to g3 a tile takes three copies, the first to g1.
TEST(Router, ADetourHasTheFewestCopies) {
  const Topology machine = rated_machine(5, {{0, 1, 50}, {1, 2, 50}, {2, 3, 50}});
  const Resources resources{machine};
  const Router router{resources, machine.gpus(), PeerCopies::direct, nullptr};
  const Router::Detours& to = router.detours_to(3);
  EXPECT_THAT(to.copies, ElementsAre(3U, 2U, 1U, 0U, Router::unreachable));
  EXPECT_THAT(std::vector(to.next.begin(), to.next.begin() + 3), ElementsAre(1U, 2U, 3U));
  EXPECT_THAT(router.neighbours(1), ElementsAre(0U, 2U));
  const Router staged{resources, machine.gpus(), PeerCopies::staged, nullptr};
  EXPECT_EQ(staged.detours_to(3).copies[0], 1U) << "through the host";
}

TEST(Router, AloneALegThroughAHostIsAsFastAsItsSlowerHalf) {
  auto d = rated_machine(2, {}).description();
  for (Link& link : d.links)
    if (link.to == small_machine::vertex(d, "g1")) link.bandwidth = Rate{4e9};
  const Topology machine{d};
  const Resources resources{machine};
  const Router router{resources, machine.gpus(), PeerCopies::staged, nullptr};
  EXPECT_DOUBLE_EQ(router.alone(router.leg(g0, g1, false)).per_byte.value, 1 / 4e9);
  EXPECT_DOUBLE_EQ(router.alone(router.leg(g1, g0, false)).per_byte.value, 1 / 10e9);
}

/// With all devices active, and A and B in one memory.
Router::Stops stops(const Topology& machine, const Leg& leg, int most_hops, HopRule rule,
                    MemoryId home) {
  const LinkMap map{machine};
  const std::vector read{home};
  std::vector<size_t> all(machine.gpus().size());
  std::iota(all.begin(), all.end(), 0);
  SharedLinks links{map, machine.gpus(), read, {}, Bytes{32e6}, most_hops, rule};
  links.activate(all);
  const Resources resources{machine};
  return Router{resources, machine.gpus(), PeerCopies::direct, &links}.stops(leg);
}

// From g0 to g3: a link of 5 GB/s; over g1, a narrowest link of 7 GB/s; over g1 and g2,
// one of 40 GB/s. By time, a byte takes 1/5 directly, 2/40 + 1/7 over one GPU (which
// reads over the first link, too), and 2/40 + 1/40 + 1/40 over two; by the bottleneck,
// the rates count as 5, 0.8 x 7 = 5.6 and 0.64 x 40 = 25.6.
TEST(Router, MoreHopsThanOneAreTakenByBothRules) {
  const Topology machine =
      rated_machine(4, {{0, 3, 5}, {0, 1, 40}, {1, 2, 40}, {2, 3, 40}, {1, 3, 7}});
  GemmProblem problem = cube(4096);
  problem.place_a = problem.place_b = g0;
  for (const auto& [rule, name] :
       {std::pair{HopRule::added, "added"}, {HopRule::bottleneck, "bottleneck"}}) {
    EXPECT_THAT(stops(machine, {g0, MemoryId{4}}, 0, rule, g0), IsEmpty()) << name;
    EXPECT_THAT(stops(machine, {g0, MemoryId{4}}, 1, rule, g0), ElementsAre(1U)) << name;
    EXPECT_THAT(stops(machine, {g0, MemoryId{4}}, 2, rule, g0), ElementsAre(1U, 2U))
        << name;
    std::set<std::string> plans;
    for (const int hops : {0, 1, 2}) {
      const std::string routing =
          fmt::format("routing=link-map(rule={},max-hops={})", name, hops);
      const Plan plan = plan_gemm(problem, machine, machine.gpus(),
                                  policy("paralia", {routing, "tile=1024"}));
      validate(plan, machine);
      plans.insert(content_hash(plan));
    }
    EXPECT_GE(plans.size(), 2U) << name;  // one hop and two may lead to the same sources
  }
}

// From the host and from g1 to g0: a link of 1 GB/s, or 50 GB/s over the last GPU. The
// library never replaces links of hosts.
TEST(Router, RoutesOverDevicesWithHighNumbers) {
  constexpr int gpus = 300;
  auto d = small_machine::memories_and_switches(gpus, 0);
  const auto name = [](int gpu) { return "g" + std::to_string(gpu); };
  for (int gpu = 0; gpu < gpus; ++gpu)
    small_machine::add_links(d, "h", name(gpu), gpu + 1 == gpus ? 50 : 1);
  for (const int gpu : {0, 1}) small_machine::add_links(d, name(gpu), name(gpus - 1), 50);
  small_machine::add_links(d, "g1", "g0", 1);
  const Topology machine{d};
  EXPECT_THAT(stops(machine, {h, g0}, 1, HopRule::added, h),
              ElementsAre(size_t{gpus - 1}));
  EXPECT_THAT(stops(machine, {h, g0}, 1, HopRule::bottleneck, h), IsEmpty());
  for (const HopRule rule : {HopRule::added, HopRule::bottleneck}) {
    EXPECT_THAT(stops(machine, {g1, g0}, 1, rule, h), ElementsAre(size_t{gpus - 1}));
    EXPECT_THAT(stops(machine, {h, machine.gpus().back()}, 1, rule, h), IsEmpty());
  }
}

}  // namespace
}  // namespace tilerail::testing
