#pragma once

#include <string>

#include "cli/options/options.hpp"

namespace tilerail::cli {

/// What was planned, in a few lines: problem, machine, policy, tile, operations by kind, bytes copied, the peak of
/// every GPU's memory, the time spent and the hash.
std::string plan_text(const study::Job& job);

}  // namespace tilerail::cli
