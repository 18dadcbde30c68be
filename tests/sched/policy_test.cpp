#include "sched/policy/fields.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "sched/policy/decisions.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail {
namespace {

TEST(Policy, EveryPresetCanBeFoundByItsName) {
  for (const std::string& name : preset_names()) EXPECT_EQ(name_of(preset(name)), name);
}

TEST(Policy, OverridesChangeOneFieldAndTheName) {
  Policy p = preset("gemmex");
  apply_override(p, "routing=link-eta");
  apply_override(p, "chunks=4");
  EXPECT_EQ(p.choices.routing, Routing::link_eta);
  EXPECT_EQ(p.choices.chunks, 4);
  EXPECT_EQ(name_of(p), "gemmex+routing=link-eta+chunks=4");
  EXPECT_TRUE(overrides(p, "chunks"));
  EXPECT_FALSE(overrides(p, "batch"));
}

TEST(Policy, AnOverrideHasOneSpellingInTheName) {
  Policy p = preset("gemmex");
  for (const char* again : {"memory-fraction=1e+0", "memory-fraction=5.0e-01", "chunks=4", "memory-fraction=0.5"})
    apply_override(p, again);
  EXPECT_EQ(name_of(p), "gemmex+chunks=4+memory-fraction=0.5");
}

TEST(Policy, MinusZeroIsZero) {
  Policy policy = preset("tilerail");
  apply_override(policy, "select-ms=-0");
  EXPECT_EQ(name_of(policy), "tilerail+select-ms=0");
}

/// The values that a field names, and some of a range.
std::vector<std::string> values_of(const PolicyField& field) {
  std::vector<std::string> values{"2", "3", "0.5"};
  std::istringstream names{field.accepted};
  for (std::string name; std::getline(names >> std::ws, name, ',');) values.push_back(name);
  return values;
}

TEST(Decisions, TellEveryWishAsItIsWritten) {
  const std::set<std::string> of_the_candidate{"devices", "tile", "grid", "k-split", "shares"};
  const Topology machine = test::shipped("clx-ai");  // whose GPUs have no links of their own
  const Resources resources{machine};
  GemmProblem problem = checked(testing::cube(1024));
  problem.place_a = machine.gpus()[0];
  const auto decisions = [&](const Policy& policy) {
    std::map<std::string, std::string> told;
    for (const auto& [key, value] :
         to_text(decide({problem, problem, machine, resources, machine.gpus(), policy}, 512, {2, 1}), machine))
      if (!of_the_candidate.contains(key)) told[key] = value;
    return told;
  };
  const Policy before = testing::policy("tilerail", {"routing=link-map"});  // whose routes may have hops
  std::map<std::string, std::set<std::string>> told;
  for (const PolicyField& field : fields_of(before))
    for (const std::string& value : values_of(field)) {
      if (value == "auto" || !decisions(before).contains(field.key)) continue;
      Policy wishing = before;
      try {
        apply_override(wishing, field.key + "=" + value);
      } catch (const InputError&) {
        continue;  // "1 to 64" is no value
      }
      const std::string decision = decisions(wishing)[field.key];
      EXPECT_EQ(decision, value) << field.key;
      told[field.key].insert(decision);
    }
  for (const auto& [key, value] : decisions(before)) EXPECT_FALSE(told[key].empty()) << key;
}

}  // namespace
}  // namespace tilerail
