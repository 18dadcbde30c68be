#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// Applies "key=value" or "key=value(parameter=value,...)" (docs/model.md#policies).
/// Throws InputError with the expected values.
void apply_override(Policy& policy, std::string_view assignment);

/// Read and set a field as text; the value must be valid, and the field does not become
/// an override.
std::string value_of(const Policy& policy, std::string_view key);
void set_value(Policy& policy, std::string_view key, std::string_view value);

struct PolicyField;

/// A named value, and its parameters.
struct PolicyValue {
  std::string name;
  std::vector<PolicyField> parameters;
};

/// An option of policies, or a parameter of one of its values, as text.
struct PolicyField {
  std::string key, value;  // of this policy; for a parameter: its default
  std::string accepted;    // the valid values
  std::string meaning;     // a sentence: the effect of the field; empty for a parameter
  bool emulates = false;   // the field only imitates a library
  std::vector<PolicyValue> values = {};
  std::optional<std::pair<double, double>> range = {};  // of valid numbers
};
std::vector<PolicyField> fields_of(const Policy& policy);

/// Whether the field limits the search, such as `effort`, and is therefore not a
/// decision.
bool is_of_the_search(const Policy& policy, std::string_view key);
/// Keys of all other fields, in the order of the table. Options of an emulation are left
/// out if they have the values of `idle`, which emulates nothing.
std::vector<std::string_view> decision_keys(const Policy& policy, const Policy& idle);

/// The fields that a search may change, in the order of the table.
std::vector<std::string_view> searched_keys();
/// The values that a search tries next for a field of the core: every other choice; half,
/// double and minimum of a number; the same for each parameter of the chosen value.
std::vector<std::string> neighbors_of(const Policy& policy, std::string_view key);

/// The preset, then "+key=value" for every override.
std::string name_of(const Policy& policy);
bool overrides(const Policy& policy, std::string_view key);
/// Whether a search may change the field.
inline bool may_change(const Policy& policy, std::string_view key) {
  return varies_fields(policy.effort) && !overrides(policy, key);
}

}  // namespace tilerail
