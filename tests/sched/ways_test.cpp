#include "sched/choose/ways.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sched/policy/fields.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A judged question on some GPUs of a machine, everything on the host.
class Ways : public ::testing::Test {
 protected:
  void ask(const char* machine, std::size_t gpus, const std::vector<std::string>& overrides) {
    topology_ = test::shipped(machine);
    resources_.emplace(*topology_);
    policy_ = preset("tilerail");
    for (const std::string& each : overrides) apply_override(policy_, each);
    devices_.assign(topology_->gpus().begin(), topology_->gpus().begin() + static_cast<std::ptrdiff_t>(gpus));
    question_.emplace(Question{problem_, problem_, *topology_, *resources_, devices_, policy_, {}, true});
  }
  /// What a field is in the first ways.
  std::vector<std::string> values(const char* key) const {
    std::vector<std::string> all;
    for (const Policy& way : first_ways(*question_)) all.push_back(value_of(way, key));
    return all;
  }

  GemmProblem problem_ = cube(4096);
  std::optional<Topology> topology_;
  std::optional<Resources> resources_;
  Policy policy_;
  std::vector<MemoryId> devices_;
  std::optional<Question> question_;
};

TEST_F(Ways, BeginWithThePolicysOwnAndListNoneTwice) {
  ask("meluxina-a100", 4, {});
  const auto ways = first_ways(*question_);
  EXPECT_EQ(way_key(ways.front()), way_key(policy_));
  std::set<std::string> keys;
  for (const Policy& way : ways) keys.insert(way_key(way));
  EXPECT_THAT(keys, SizeIs(ways.size()));
  EXPECT_THAT(values("distribution"), Contains("2d-cyclic"));  // as paralia has it
  EXPECT_THAT(values("routing"), Contains("eta"));             // as gemmex has it
}

TEST_F(Ways, KeepWhatIsOverridden) {
  ask("meluxina-a100", 4, {"sends=in-order", "order=fewest-fetches"});
  EXPECT_THAT(values("sends"), Each("in-order"));
  EXPECT_THAT(values("order"), Each("fewest-fetches"));
  EXPECT_THAT(values("c-tiles"), Contains("lazy"));
  for (const Policy& way : ways_beside(*question_, policy_)) EXPECT_EQ(way.sends, Sends::in_order);
}

TEST_F(Ways, ThatAreFixedAreOne) {
  ask("meluxina-a100", 4, {"ways=fixed"});
  EXPECT_THAT(first_ways(*question_), SizeIs(1));
  EXPECT_THAT(ways_beside(*question_, policy_), IsEmpty());
}

TEST_F(Ways, DoNotRelayWhereTheUserForbidsIt) {
  ask("clx-ai", 8, {"relays=off"});
  EXPECT_THAT(values("routing"), Not(Contains("link-map")));
  ask("clx-ai", 8, {});
  EXPECT_THAT(values("routing"), Contains("link-map"));
}

TEST_F(Ways, LeaveAloneWhatCannotMatter) {
  ask("hgx-h200-1", 1, {});
  for (const char* key : {"sends", "batch", "chunks", "grid", "distribution", "shares"})
    EXPECT_THAT(values(key), Each(value_of(policy_, key))) << key;
  problem_.beta = 0;
  ask("meluxina-a100", 4, {});
  EXPECT_THAT(values("c-tiles"), Each("auto"));
}

TEST_F(Ways, BesideOneDifferInOneField) {
  ask("meluxina-a100", 4, {});
  const auto beside = ways_beside(*question_, policy_);
  EXPECT_THAT(beside, Not(IsEmpty()));
  for (const Policy& way : beside) {
    const std::string changes = changes_text(*question_, way);
    EXPECT_EQ(std::ranges::count(changes, '='), 1) << changes;
  }
}

}  // namespace
}  // namespace tilerail::testing
