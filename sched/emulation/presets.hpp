#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/policy.hpp"

namespace tilerail {

/// The preset tilerail and the presets of libraries and papers. All have the options of
/// an emulation. Throws InputError that names the presets.
Policy any_preset(std::string_view name);
std::vector<std::string> any_preset_names();

/// The same policy with nothing emulated: what a search can begin with.
Policy without_emulation(Policy policy);

}  // namespace tilerail
