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

/// A wish, as text.
struct PolicyField {
  std::string key, value;  // of this policy
  std::string accepted;    // the values that it accepts
  std::string meaning;     // what it does, and when it matters: one sentence
  bool emulates = false;   // it adds the costs or the caches of an emulated library, and improves no plan
};
std::vector<PolicyField> fields_of(const Policy& policy);

/// The preset, then "+key=value" for every override.
std::string name_of(const Policy& policy);
bool overrides(const Policy& policy, std::string_view key);

}  // namespace tilerail
