// The example of thesis figures 4.3 and 4.4: four GPUs; G0 needs A00, B00 and C00.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/route/fetcher.hpp"
#include "sched/tasks/workspace.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double ms = 1e-3;

/// A tile takes 10 ms from the host and 1 ms from another GPU: the figures contain no
/// bandwidths, but GPUs are faster.
Topology four_gpus() {
  Topology::Description d = memories_and_switches(4, 0);
  constexpr double bytes = 8e6, from_host = bytes / (10 * ms) / giga,
                   between_gpus = bytes / ms / giga;
  for (const std::string gpu : {"g0", "g1", "g2", "g3"})
    add_links(d, "h", gpu, from_host);
  for (const std::string from : {"g0", "g1", "g2", "g3"})
    for (const std::string to : {"g0", "g1", "g2", "g3"})
      if (from < to) add_links(d, from, to, between_gpus);
  return Topology{std::move(d)};
}

class EtaExample : public ::testing::Test {
 protected:
  static constexpr MemoryId h{0}, g0{1}, g1{2}, g2{3}, g3{4};
  static constexpr TileId a00{0}, b00{1};

  Topology machine = four_gpus();
  Resources resources{machine};
  GemmProblem problem = checked([] {
    GemmProblem p;
    p.m = p.n = p.k = 1000;
    return p;
  }());
  std::vector<MemoryId> devices{g0, g1, g2, g3};
  std::vector<int64_t> capacities = std::vector<int64_t>(4, 1 << 30);
  Decisions decisions;
  Plan plan = empty_plan(problem, machine);
  PlanBuilder builder{plan};
  KernelCosts costs{machine};

  /// Sources of A00 and B00 in the state of figure 4.4.
  std::vector<MemoryId> sources(Routing routing) {
    decisions.choices.routing = routing;
    const BufferId a = builder.add_tensor(tensor_a), b = builder.add_tensor(tensor_b);
    Workspace workspace{
        {machine, resources, decisions, devices, capacities, builder, costs, {a, b}},
        {},
        0};
    PlanContext& context = workspace.context();
    const View whole_a{a, 0, 0, 1000, 1000}, whole_b{b, 0, 0, 1000, 1000};
    TileDirectory tiles{context, {{whole_a, {0, 1, 2, 3}}, {whole_b, {0, 1, 2, 3}}}};
    Fetcher fetcher{context, tiles};
    lam(context.clock, h, g1, 20), lam(context.clock, h, g2, 5);
    fetcher.fetch(a00, 1),
        fetcher.fetch(b00, 2);  // ETA vectors: A00 at G1 at 30, B00 at G2 at 15
    lam(context.clock, g1, g0, 40), lam(context.clock, g2, g0, 15),
        lam(context.clock, h, g0, 10);
    EXPECT_NEAR(tiles.there(a00, 1).value, 30 * ms, 1e-9);
    EXPECT_NEAR(tiles.there(b00, 2).value, 15 * ms, 1e-9);
    EXPECT_FALSE(tiles.present(a00, 2) || tiles.present(a00, 3) ||
                 tiles.present(b00, 1) || tiles.present(b00, 3));
    const size_t before = plan.ops.size();
    arrivals = {fetcher.fetch(b00, 0).eta.value, fetcher.fetch(a00, 0).eta.value};
    lam_after = {free_at(context.clock, g1), free_at(context.clock, g2),
                 free_at(context.clock, h)};
    std::vector<MemoryId> from;
    for (size_t op = before; op < plan.ops.size(); ++op)
      from.push_back(plan.queue(plan.ops[op].queue).src);
    return from;
  }

  std::vector<double> arrivals, lam_after;  // of B00 and A00; of G1, G2 and H to G0

 private:
  static void lam(Clock& clock, MemoryId src, MemoryId dst, double free) {
    const Seconds at{free * ms};
    clock.commit(clock.hop(src, dst), Bytes{0}, {at, at, at, 0});
  }
  static double free_at(const Clock& clock, MemoryId src) {
    return clock.estimate(clock.hop(src, g0), Bytes{0}, 1, {}).last.value;
  }
};

auto in_ms(double time) { return DoubleNear(time * ms, 1e-9); }

TEST_F(EtaExample, TakesB00FromG2AndA00FromTheHost) {
  EXPECT_THAT(sources(Routing::eta), ElementsAre(g2, h));
  // B00: max(15, 15) + 1 = 16 from G2, 10 + 10 from the host. A00: 10 + 10 from the host,
  // max(30, 40) + 1 from G1.
  EXPECT_THAT(arrivals, ElementsAre(in_ms(16), in_ms(20)));
  EXPECT_THAT(lam_after, ElementsAre(in_ms(40), in_ms(16), in_ms(20)))
      << "LAM[dest][i] = ETA[dest] = ETA_min";
}

TEST_F(EtaExample, RoutingByBandwidthTakesA00FromG1AndWaits) {
  EXPECT_THAT(sources(Routing::bandwidth), ElementsAre(g2, g1));
  EXPECT_THAT(arrivals, ElementsAre(in_ms(16), in_ms(41)));
}

}  // namespace
}  // namespace tilerail
