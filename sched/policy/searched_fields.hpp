#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// The fields whose values a search may change, in the order of the table of fields.
std::vector<std::string_view> searched_keys();

/// The other values that a search tries for a field: of a choice all, of a number its half, its double and the least.
std::vector<std::string> neighbors_of(const Policy& policy, std::string_view key);

}  // namespace tilerail
