#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// Applies "key=value" or "key=value(parameter=value,...)" (docs/model.md#policies).
/// Throws InputError that names what was expected.
void apply_override(Policy& policy, std::string_view assignment);

/// The value of a field as text, and the same field set to another one, which it accepts;
/// neither is an override.
std::string value_of(const Policy& policy, std::string_view key);
void set_value(Policy& policy, std::string_view key, std::string_view value);

struct PolicyField;

/// A value that has a name, and its parameters.
struct PolicyValue {
  std::string name;
  std::vector<PolicyField> parameters;
};

/// An option of policies, or a parameter of one of its values, as text.
struct PolicyField {
  std::string key, value;  // of this policy; of a parameter: its default
  std::string accepted;    // the values that it accepts
  std::string meaning;     // a sentence: the effect of the field; empty for a parameter
  bool emulates = false;   // the field only imitates a library
  std::vector<PolicyValue> values = {};
  std::optional<std::pair<double, double>> range = {};  // of the numbers that it accepts
};
std::vector<PolicyField> fields_of(const Policy& policy);

/// Whether the field limits the search, such as `effort`, and is therefore not a
/// decision.
bool is_of_the_search(const Policy& policy, std::string_view key);
/// All others, in the order of the table. Options of an emulation are left out if they
/// have the values of `idle`, which emulates nothing.
std::vector<std::string_view> decision_keys(const Policy& policy, const Policy& idle);

/// The fields whose values a search may change, in the order of the table.
std::vector<std::string_view> searched_keys();
/// The values that a search tries next for a field of the core: every other choice; the
/// half, the double and the least of a number; the same for each parameter of the chosen
/// value.
std::vector<std::string> neighbors_of(const Policy& policy, std::string_view key);

/// The preset, then "+key=value" for every override.
std::string name_of(const Policy& policy);
bool overrides(const Policy& policy, std::string_view key);

}  // namespace tilerail
