#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// The preset tilerail, or a preset of a library or paper, with the options of an
/// emulation. Throws InputError that lists the presets.
Policy any_preset(std::string_view name);
std::vector<std::string> any_preset_names();

/// The policy without emulation, as a start of a search.
Policy without_emulation(Policy policy);

}  // namespace tilerail
