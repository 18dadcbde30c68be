#include "sched/choose/strategies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "sched/emulation/presets.hpp"
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
using ::testing::StartsWith;

/// A question with simulation on some GPUs of a machine, with all matrices on the host.
class StrategiesOf : public ::testing::Test {
 protected:
  void ask(const char* machine, size_t gpus, const std::vector<std::string>& overrides) {
    topology_ = test::shipped(machine);
    resources_.emplace(*topology_);
    policy_ = any_preset("tilerail");
    for (const std::string& each : overrides) apply_override(policy_, each);
    devices_.assign(topology_->gpus().begin(),
                    topology_->gpus().begin() + ptrdiff_t(gpus));
    question_.emplace(Question{
        problem_, problem_, *topology_, *resources_, devices_, policy_, {}, true});
  }
  /// The values of a field in the starting strategies of a search.
  std::vector<std::string> values(const char* key) const {
    std::vector<std::string> all;
    Surrogate surrogate;
    Strategies strategies{*question_, surrogate};
    for (const Strategy& strategy : strategies.starts())
      all.push_back(strategies.value(strategy, key));
    return all;
  }
  /// The values of a field that one change of the policy's own strategy can set.
  std::vector<std::string> changes(const char* key) const {
    std::vector<std::string> all;
    Surrogate surrogate;
    Strategies strategies{*question_, surrogate};
    const Strategy own = strategies.strategy(policy_);
    for (size_t field = 0; field < own.size(); ++field)
      for (const size_t value : strategies.neighbors(own, field)) {
        Strategy changed = own;
        changed[field] = value;
        if (strategies.value(changed, key) != strategies.value(own, key))
          all.push_back(strategies.value(changed, key));
      }
    return all;
  }

  GemmProblem problem_ = cube(4096);
  std::optional<Topology> topology_;
  std::optional<Resources> resources_;
  Policy policy_;
  std::vector<MemoryId> devices_;
  std::optional<Question> question_;
};

TEST_F(StrategiesOf, StartWithThePolicysOwnThePlainestAndRelaysWithoutDuplicates) {
  ask("meluxina-a100", 4, {});
  Surrogate surrogate;
  Strategies strategies{*question_, surrogate};
  const std::vector<Strategy> starts = strategies.starts();
  EXPECT_EQ(strategies.text(starts[0]), "");
  std::set<std::string> texts;
  for (const Strategy& strategy : starts) texts.insert(strategies.text(strategy));
  EXPECT_THAT(texts, SizeIs(starts.size()));
  EXPECT_THAT(values("routing"), ::testing::IsSupersetOf({"initial", "link-map"}));
}

TEST_F(StrategiesOf, KeepFieldsThatAreOverridden) {
  ask("meluxina-a100", 4, {"sends=in-order", "order=fewest-fetches"});
  EXPECT_THAT(values("sends"), Each("in-order"));
  EXPECT_THAT(values("order"), Each("fewest-fetches"));
  EXPECT_THAT(values("batch"), Contains("off"));
  EXPECT_THAT(changes("sends"), IsEmpty());
  EXPECT_THAT(changes("batch"),
              ::testing::AllOf(Contains("chain"), Contains("tree(chunks=1)")));
}

TEST_F(StrategiesOf, AreOneIfThePolicyIsFixed) {
  ask("meluxina-a100", 4, {"effort=fixed"});
  EXPECT_THAT(values("sends"), SizeIs(1));
  EXPECT_THAT(changes("sends"), IsEmpty());
}

TEST_F(StrategiesOf, UseLinkMapsUnlessTheUserSetsTheRouting) {
  ask("clx-ai", 8, {"routing=link-eta"});
  EXPECT_THAT(values("routing"), Each("link-eta"));
  EXPECT_THAT(changes("routing"), IsEmpty());
  ask("clx-ai", 8, {});
  EXPECT_THAT(values("routing"), Contains("link-map"));
}

TEST_F(StrategiesOf, ReproduceThePoliciesOfTheirOrigin) {
  ask("clx-ai", 8, {});
  Surrogate surrogate;
  Strategies strategies{*question_, surrogate};
  for (const std::string_view key : searched_keys())
    for (const std::string& value : neighbors_of(policy_, key)) {
      Policy changed = policy_;
      set_value(changed, key, value);
      EXPECT_EQ(value_of(strategies.policy(strategies.strategy(changed)), key), value)
          << key;
    }
}

TEST_F(StrategiesOf, SetFieldsThatMayChangeAlone) {
  ask("clx-ai", 8, {"sends=in-order"});
  Surrogate surrogate;
  Strategies strategies{*question_, surrogate};
  Strategy strategy = strategies.strategy(policy_);
  strategies.set(strategy, "sends", "free");
  strategies.set(strategy, "batch", "chain");
  EXPECT_EQ(strategies.value(strategy, "sends"), "in-order");
  EXPECT_EQ(strategies.text(strategy), " batch=chain");
}

TEST_F(StrategiesOf, ChangeEachSearchedFieldToAcceptedValuesOnly) {
  ask("clx-ai", 8, {});
  for (const std::string_view key : searched_keys())
    for (const std::string& value : neighbors_of(policy_, key)) {
      Policy changed = policy_;
      EXPECT_NO_THROW(set_value(changed, key, value)) << key << "=" << value;
      EXPECT_EQ(value_of(changed, key), value) << key;
      EXPECT_NE(value_of(policy_, key), value) << key;
    }
}

}  // namespace
}  // namespace tilerail::testing
