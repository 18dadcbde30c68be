// The example of thesis figures 4.3 and 4.4: four GPUs, of which G0 needs A00, B00 and C00.
#include <gtest/gtest.h>

#include <vector>

#include "sched/route/fetcher.hpp"
#include "sched/tasks/workspace.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;

/// A tile comes from the host in 10 s and from another GPU in 1 s: the figures print no bandwidths, but that those of
/// GPUs are higher.
Topology four_gpus() {
  Topology::Description d = memories_and_switches(4, 0);
  constexpr double bytes = 800, from_host = bytes / 10 / giga, between_gpus = bytes / giga;
  for (const std::string gpu : {"g0", "g1", "g2", "g3"}) add_links(d, "h", gpu, from_host);
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
  GemmProblem problem = [] {
    GemmProblem p;
    p.m = p.n = p.k = 10;
    return p;
  }();
  std::vector<MemoryId> devices{g0, g1, g2, g3};
  std::vector<std::int64_t> capacities = std::vector<std::int64_t>(4, 1 << 20);
  Decisions decisions;
  Plan plan = empty_plan(problem, machine);
  PlanBuilder builder{plan};
  KernelCosts costs{machine};

  /// Where A00 and B00 come from, asked with the state of figure 4.4.
  std::vector<MemoryId> sources(Routing routing) {
    decisions.routing = routing;
    const BufferId a = builder.add_matrix(problem, Buffer::Kind::matrix_a, machine),
                   b = builder.add_matrix(problem, Buffer::Kind::matrix_b, machine);
    Workspace workspace{
        {problem, machine, resources, decisions, devices, capacities, builder, costs, a, b, BufferId{}}, {}, 0};
    PlanContext& context = workspace.context();
    const View whole_a{a, 0, 0, 10, 10}, whole_b{b, 0, 0, 10, 10};
    TileDirectory tiles{context, {{whole_a, h, {0, 1, 2, 3}}, {whole_b, h, {0, 1, 2, 3}}}};
    Fetcher fetcher{context, tiles};
    lam(context.clock, h, g1, 20), lam(context.clock, h, g2, 5);
    fetcher.fetch(a00, 1), fetcher.fetch(b00, 2);  // ETA vectors: A00 at G1 at 30, B00 at G2 at 15
    lam(context.clock, g1, g0, 40), lam(context.clock, g2, g0, 15), lam(context.clock, h, g0, 10);
    EXPECT_EQ(tiles.there(a00, 1), Seconds{30});
    EXPECT_EQ(tiles.there(b00, 2), Seconds{15});
    EXPECT_FALSE(tiles.present(a00, 2) || tiles.present(a00, 3) || tiles.present(b00, 1) || tiles.present(b00, 3));
    const std::size_t before = plan.ops.size();
    arrivals = {fetcher.fetch(b00, 0).eta, fetcher.fetch(a00, 0).eta};
    lam_after = {free_at(context.clock, g1), free_at(context.clock, g2), free_at(context.clock, h)};
    std::vector<MemoryId> from;
    for (std::size_t op = before; op < plan.ops.size(); ++op) from.push_back(plan.queue(plan.ops[op].queue).src);
    return from;
  }

  std::vector<Seconds> arrivals, lam_after;  // of B00 and A00; of G1, G2 and H to G0

 private:
  static void lam(Clock& clock, MemoryId src, MemoryId dst, double seconds) {
    clock.commit(clock.hop(src, dst), Bytes{0}, {Seconds{seconds}, Seconds{seconds}, Seconds{seconds}, 0});
  }
  static Seconds free_at(const Clock& clock, MemoryId src) {
    return clock.estimate(clock.hop(src, g0), Bytes{0}, 1, {}).last;
  }
};

TEST_F(EtaExample, TakesB00FromG2AndA00FromTheHost) {
  EXPECT_EQ(sources(Routing::eta), (std::vector{g2, h}));
  // B00: max(15, 15) + 1 = 16 from G2, 10 + 10 from the host. A00: 10 + 10 from the host, max(30, 40) + 1 from G1.
  EXPECT_EQ(arrivals, (std::vector{Seconds{16}, Seconds{20}}));
  EXPECT_EQ(lam_after, (std::vector{Seconds{40}, Seconds{16}, Seconds{20}})) << "LAM[dest][i] = ETA[dest] = ETA_min";
}

TEST_F(EtaExample, RoutingByBandwidthTakesA00FromG1AndWaits) {
  EXPECT_EQ(sources(Routing::bandwidth), (std::vector{g2, g1}));
  EXPECT_EQ(arrivals, (std::vector{Seconds{16}, Seconds{41}}));
}

}  // namespace
}  // namespace tilerail
