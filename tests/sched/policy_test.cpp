#include "sched/policy/fields.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "sched/emulation/presets.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/policy/option_table.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail {
namespace {

TEST(Policy, EveryPresetCanBeFoundByItsName) {
  for (const std::string& name : any_preset_names())
    EXPECT_EQ(name_of(any_preset(name)), name);
}

TEST(Policy, OverridesChangeOneFieldAndTheName) {
  Policy p = any_preset("gemmex");
  apply_override(p, "routing=link-eta");
  apply_override(p, "batch=chain(chunks=4)");
  EXPECT_EQ(p.choices.routing, Routing::link_eta);
  EXPECT_EQ(p.choices.batch_chunks, 4);
  EXPECT_EQ(name_of(p), "gemmex+routing=link-eta+batch=chain(chunks=4)");
  EXPECT_TRUE(overrides(p, "batch"));
  EXPECT_FALSE(overrides(p, "order"));
}

TEST(Policy, AnOverrideHasOneSpellingInTheName) {
  Policy p = any_preset("gemmex");
  for (const char* again :
       {"memory=1e+0", "memory=5.0e-01", "task-us=-0", "memory=0.5",
        "batch=chain(min-bytes=0, chunks=8)", "batch=chain(chunks=8)"})
    apply_override(p, again);
  EXPECT_EQ(name_of(p), "gemmex+task-us=0+memory=0.5+batch=chain");
}

TEST(Policy, ParametersThatAreNotGivenHaveTheirDefaults) {
  Policy p = any_preset("paralia");
  apply_override(p, "routing=link-map(max-hops=2)");
  EXPECT_EQ(p.choices.max_hops, 2);
  EXPECT_EQ(p.choices.hop_rule, HopRule::added)
      << "the bottleneck rule was a parameter of the preset's value";
  apply_override(p, "routing=eta");
  EXPECT_EQ(p.choices.max_hops, Choices{}.max_hops);
}

/// An emulation with one field, whose value has a parameter.
struct Cutting final : Emulation {
  explicit Cutting(int64_t of) : pieces{of} {}
  const std::vector<Field>* fields() const override {
    static const auto cut = [](Policy& policy, std::string_view text) {
      policy.choices.emulation = std::make_shared<Cutting>(*read_number<int64_t>(text));
      return true;
    };
    static const auto pieces_of = [](const Policy& policy) {
      const auto& own = dynamic_cast<const Cutting&>(*policy.choices.emulation);
      return std::optional{std::to_string(own.pieces)};
    };
    static const std::vector<Field> all{
        {.key = "cut",
         .values = {{"on",
                     [](Policy&) {},
                     [](const Policy&) { return true; },
                     {{.key = "pieces",
                       .values = {},
                       .number = Number{1, 9, "1 to 9", cut, pieces_of, {}}}}}}}};
    return &all;
  }
  std::shared_ptr<const Emulation> idle() const override {
    return std::make_shared<Cutting>(1);
  }
  int64_t pieces;
};

TEST(Policy, AnEmulatedValueCanHaveAParameter) {
  Policy policy;
  policy.choices.emulation = std::make_shared<Cutting>(3);
  EXPECT_EQ(value_of(policy, "cut"), "on(pieces=3)");
  EXPECT_EQ(fields_of(policy).at(0).values.at(0).parameters.at(0).value, "1");
  apply_override(policy, "cut=on");
  EXPECT_EQ(value_of(policy, "cut"), "on");
}

TEST(Policy, AParameterBelongsToItsValue) {
  for (const auto& [wrong, expected] :
       {std::pair{"batch=off(chunks=4)", "expected off"},
        {"batch=chain(pieces=4)", "expected chain(chunks=whole number 1 to 1024, "},
        {"batch=chain(chunks=0)", "'chunks=0'"},
        {"batch=chain(chunks)", "'chunks'"},
        {"batch=chain(chunks=2,chunks=2)", "'chunks=2'"},
        {"routing=link-map(rule=best)", "rule=added|bottleneck"}}) {
    Policy p = any_preset("tilerail");
    expect_input_error([&, text = wrong] { apply_override(p, text); },
                       {fmt::format("'{}'", wrong), expected});
    EXPECT_EQ(name_of(p), "tilerail");
  }
}

TEST(Policy, TheCoreHasAtMost25Options) {
  int own = 0;
  for (const PolicyField& field : fields_of(any_preset("tilerail")))
    own += !field.emulates;
  EXPECT_LE(own, 25);
}

/// Each named value of the field, also with each of its parameters at another value, and
/// some numbers.
std::vector<std::string> values_of(const PolicyField& field) {
  std::vector<std::string> all;
  for (const PolicyValue& value : field.values) {
    all.push_back(value.name);
    for (const PolicyField& parameter : value.parameters)
      for (const std::string& text : values_of(parameter))
        if (text != parameter.value)
          all.push_back(fmt::format("{}({}={})", value.name, parameter.key, text));
  }
  if (field.range) all.push_back(field.range->second > 1 ? "3" : "0.5");
  return all;
}

TEST(Decisions, HaveTheSpellingOfTheOptions) {
  const std::set<std::string> of_the_candidate{"devices", "tile", "grid", "shares"};
  const Topology machine =
      test::shipped("clx-ai");  // its GPUs have no links of their own
  const Resources resources{machine};
  GemmProblem problem = checked(testing::cube(1024));
  problem.place_a = machine.gpus()[0];
  const auto decisions = [&](const Policy& policy) {
    std::map<std::string, std::string> told;
    for (const auto& [key, value] :
         to_text(decide({problem, problem, machine, resources, machine.gpus(), policy},
                        512, {2, 1}),
                 machine))
      if (!of_the_candidate.contains(key)) told[key] = value;
    return told;
  };
  const Policy before = any_preset("tilerail");
  std::map<std::string, std::set<std::string>> told;
  for (const PolicyField& field : fields_of(before))
    for (const std::string& value : values_of(field)) {
      if (value == "auto" || !decisions(before).contains(field.key)) continue;
      Policy asked = before;
      apply_override(asked, field.key + "=" + value);
      EXPECT_EQ(decisions(asked)[field.key], value) << field.key;
      told[field.key].insert(value);
    }
  for (const auto& [key, value] : decisions(before))
    EXPECT_FALSE(told[key].empty()) << key;
}

}  // namespace
}  // namespace tilerail
