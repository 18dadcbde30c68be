#include "sched/choose/moves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Ge;

const std::vector<int64_t> tiles{256, 512, 1024, 2048};

/// Moves from a simulated plan of the policy on four GPUs, with all matrices on the host.
struct MovesBy {
  explicit MovesBy(const std::vector<std::string>& overrides)
      : policy{policy_of(overrides)} {
    from.candidate = {strategies.strategy(policy), 1024};
    from.grid = {2, 2, 1};
    from.shares = {1, 1, 1, 1};
    from.ops = 100;
    from.seconds = from.estimated = 1;
  }

  static Policy policy_of(const std::vector<std::string>& overrides) {
    Policy policy = any_preset("tilerail");
    for (const std::string& each : overrides) apply_override(policy, each);
    return policy;
  }

  Trial with(std::string_view key, const std::string& value) {
    Trial other = from;
    strategies.set(other.candidate.strategy, key, value);
    return other;
  }
  /// Values of a field in `count` children of a trial and another.
  std::set<std::string> values(std::string_view key, const Trial& other,
                               int count = 200) {
    std::set<std::string> all;
    for (int i = 0; i < count; ++i)
      all.insert(strategies.value(moves.child(from, other).to.strategy, key));
    return all;
  }
  std::set<int64_t> drawn_tiles(int count = 200) {
    std::set<int64_t> all;
    for (int i = 0; i < count; ++i) all.insert(moves.child(from, from).to.tile);
    return all;
  }

  GemmProblem problem = cube(4096);
  Topology topology = test::shipped("meluxina-a100");
  Resources resources{topology};
  Policy policy;
  std::vector<MemoryId> devices = topology.gpus();
  Question question{problem, problem, topology, resources, devices, policy, {}, true};
  Surrogate surrogate;
  Strategies strategies{question, surrogate};
  Moves moves{question, strategies, surrogate, tiles};
  Trial from = {};
};

TEST(Moves, DrawTheSameInEveryRun) {
  MovesBy first{{}}, second{{}};
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(first.moves.child(first.from, first.from).to,
              second.moves.child(second.from, second.from).to)
        << i;
}

TEST(Moves, ChangeFieldsThatTheUserLeavesOpenAlone) {
  MovesBy given{{"sends=in-order"}};
  EXPECT_THAT(given.values("sends", given.from), ElementsAre("in-order"));
  EXPECT_THAT(given.values("order", given.from), Contains("fifo"));
}

TEST(Moves, KeepATileThatIsGiven) {
  EXPECT_THAT(MovesBy{{"tile=1024"}}.drawn_tiles(), ElementsAre(1024));
  EXPECT_TRUE(MovesBy{{"tile=1024"}}.moves.tiles_of(MovesBy{{"tile=1024"}}.from).empty());
}

TEST(Moves, DrawTilesOfTheListAndTilesThatDivideBlocksEvenly) {
  const std::set<int64_t> drawn = MovesBy{{}}.drawn_tiles();
  EXPECT_THAT(drawn, Contains(512));
  EXPECT_THAT(drawn, Contains(2048));
  EXPECT_THAT(drawn, Contains(688))
      << "2048 rows of a block in three pieces, rounded up to 16";
  EXPECT_THAT(drawn, Each(Ge(256)));
}

TEST(Moves, TakeValuesOfTheOtherParent) {
  MovesBy given{{"compute-streams=4"}};
  const Trial other = given.with("batch", "tree(chunks=7)");
  EXPECT_THAT(given.values("batch", other), Contains("tree(chunks=7)"));
  EXPECT_THAT(given.values("batch", given.from),
              ::testing::Not(Contains("tree(chunks=7)")));
}

TEST(Moves, GiveMoreWorkToADeviceThatIsDoneEarly) {
  MovesBy given{{}};
  given.from.ends = {Seconds{1}, Seconds{2}, Seconds{2}, Seconds{2}};
  bool balanced = false;
  for (int i = 0; i < 200; ++i) {
    const Move move = given.moves.child(given.from, given.from);
    if (move.to.shares.empty()) continue;
    balanced = true;
    EXPECT_EQ(given.strategies.value(move.to.strategy, "distribution"), "proportional");
    EXPECT_GT(move.to.shares[0], move.to.shares[1]);
  }
  EXPECT_TRUE(balanced);
}

TEST(Moves, ForgetSharesWhenTheDistributionChanges) {
  MovesBy given{{}};
  given.strategies.set(given.from.candidate.strategy, "distribution", "proportional");
  given.from.candidate.shares = {1.5, 0.5, 1, 1};
  for (int i = 0; i < 200; ++i) {
    const Candidate to = given.moves.child(given.from, given.from).to;
    if (given.strategies.value(to.strategy, "distribution") == "proportional") continue;
    EXPECT_THAT(to.shares, Eq(std::vector<double>{}));
  }
}

TEST(Moves, TryOtherTilesTheNearestFirst) {
  MovesBy given{{}};
  given.from.candidate.tile = 900;
  std::vector<int64_t> sides;
  for (const Move& move : given.moves.tiles_of(given.from)) sides.push_back(move.to.tile);
  EXPECT_THAT(sides, ElementsAre(1024, 512, 2048, 256));
}

TEST(Moves, CountOperationsInProportionToTiles) {
  MovesBy given{{}};
  EXPECT_EQ(given.moves.ops_of(given.from, 512), 8 * 100);
  EXPECT_EQ(given.moves.ops_of(given.with("tile-depth", "all"), 512), 4 * 100);
  EXPECT_EQ(given.moves.ops_of(given.with("tile-rows", "all"), 512), 4 * 100);
}

}  // namespace
}  // namespace tilerail::testing
