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
class WaysOf : public ::testing::Test {
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
    const WayList ways{*question_};
    for (std::size_t i = 0; i < ways.size(); ++i) all.push_back(value_of(ways[i], key));
    return all;
  }
  /// The same of those beside the first.
  std::vector<std::string> beside(const char* key) const {
    std::vector<std::string> all;
    WayList ways{*question_};
    const std::size_t first = ways.size();
    ways.add_beside(0);
    for (std::size_t i = first; i < ways.size(); ++i) all.push_back(value_of(ways[i], key));
    return all;
  }

  GemmProblem problem_ = cube(4096);
  std::optional<Topology> topology_;
  std::optional<Resources> resources_;
  Policy policy_;
  std::vector<MemoryId> devices_;
  std::optional<Question> question_;
};

TEST_F(WaysOf, BeginWithThePolicysOwnAndListNoneTwice) {
  ask("meluxina-a100", 4, {});
  const WayList ways{*question_};
  EXPECT_EQ(ways.changes_text(ways[0]), "");
  std::set<std::string> changes;
  for (std::size_t i = 0; i < ways.size(); ++i) changes.insert(ways.changes_text(ways[i]));
  EXPECT_THAT(changes, SizeIs(ways.size()));
  EXPECT_THAT(values("distribution"), Contains("2d-cyclic"));  // as paralia has it
  for (const char* key : {"routing", "min-chunk-bytes", "issue"})
    EXPECT_THAT(values(key), Contains(value_of(preset("gemmex"), key))) << key;
  EXPECT_THAT(values("order"), Contains("eta-all"));        // as gemmex has it
  EXPECT_THAT(values("hop-rule"), Contains("bottleneck"));  // as paralia has it
}

TEST_F(WaysOf, KeepWhatIsOverridden) {
  ask("meluxina-a100", 4, {"sends=in-order", "order=fewest-fetches"});
  EXPECT_THAT(values("sends"), Each("in-order"));
  EXPECT_THAT(values("order"), Each("fewest-fetches"));
  EXPECT_THAT(values("c-tiles"), Contains("lazy"));
  EXPECT_THAT(beside("sends"), Each("in-order"));
  EXPECT_THAT(beside("chunks"), Contains("1"));
}

TEST_F(WaysOf, ThatAreFixedAreOne) {
  ask("meluxina-a100", 4, {"ways=fixed"});
  EXPECT_THAT(values("sends"), SizeIs(1));
  EXPECT_THAT(beside("sends"), IsEmpty());
}

TEST_F(WaysOf, DoNotRelayWhereTheUserForbidsIt) {
  ask("clx-ai", 8, {"relays=off"});
  EXPECT_THAT(values("routing"), Not(Contains("link-map")));
  for (const std::vector<std::string>& said : {std::vector<std::string>{}, {"relays=on"}}) {
    ask("clx-ai", 8, said);
    policy_.relays = false;  // as the search makes it: ways say themselves whether they relay
    EXPECT_THAT(values("routing"), Contains("link-map"));
  }
  problem_.routine = Routine::gemv, problem_.n = 1;  // which never relays
  ask("clx-ai", 8, {"relays=off"});
  EXPECT_THAT(values("routing"), Contains("link-map"));
}

TEST_F(WaysOf, LeaveAloneWhatCannotMatter) {
  ask("hgx-h200-1", 1, {});
  for (const char* key : {"sends", "batch", "chunks", "grid", "distribution", "shares"})
    EXPECT_THAT(values(key), Each(value_of(policy_, key))) << key;
  problem_.beta = 0;
  ask("meluxina-a100", 4, {});
  EXPECT_THAT(values("c-tiles"), Each("auto"));
}

TEST_F(WaysOf, BesideOneDifferInOneField) {
  ask("meluxina-a100", 4, {});
  WayList ways{*question_};
  const std::size_t first = ways.size();
  ways.add_beside(0);
  EXPECT_GT(ways.size(), first);
  for (std::size_t i = first; i < ways.size(); ++i)
    EXPECT_EQ(std::ranges::count(ways.changes_text(ways[i]), '='), 1) << ways.changes_text(ways[i]);
}

}  // namespace
}  // namespace tilerail::testing
