#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// Applies "key=value" (docs/model.md#policies). Throws InputError naming the key or the values there are.
void apply_override(Policy& policy, std::string_view assignment);

/// A wish, as text.
struct PolicyField {
  std::string key, value;  // of this policy
  std::string accepted;    // the values that it accepts
  std::string meaning;     // what it does, and when it matters: one sentence
};
std::vector<PolicyField> fields_of(const Policy& policy);

/// The keys that were overridden, in the order in which that happened: those after each "+" of the policy's name.
std::vector<std::string> overridden_keys(const Policy& policy);
bool overrides(const Policy& policy, std::string_view key);
/// The preset that the overrides began with.
Policy preset_of(const Policy& policy);

}  // namespace tilerail
