#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// Applies "key=value" (docs/model.md#policies). Throws InputError naming the key or the values there are.
void apply_override(Policy& policy, std::string_view assignment);

/// The value of a field as text, and the same field set to another one, which it accepts; neither is an override.
std::string value_of(const Policy& policy, std::string_view key);
void set_value(Policy& policy, std::string_view key, std::string_view value);

/// An option of policies, as text.
struct PolicyField {
  std::string key, value;  // of this policy
  std::string accepted;    // the values that it accepts
  std::string meaning;     // a sentence: the effect of the field
  bool emulates = false;   // it adds the costs or the caches of an emulated library, and improves no plan
};
std::vector<PolicyField> fields_of(const Policy& policy);

/// Whether the field says how a plan is found, and so is not a decision: `effort`.
bool is_of_the_search(std::string_view key);

/// The fields whose values a search may change, in the order of the table.
std::vector<std::string_view> searched_keys();
/// The other values that a search tries for a field: all of a choice; half, double and the least of a number.
std::vector<std::string> neighbors_of(const Policy& policy, std::string_view key);

/// The preset, then "+key=value" for every override.
std::string name_of(const Policy& policy);
bool overrides(const Policy& policy, std::string_view key);

}  // namespace tilerail
