#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "study/sweep/sweep.hpp"

namespace tilerail::cli {

/// A few points are all listed; of many, the fastest and a summary of each axis. Failed
/// points follow.
std::string to_text(const study::Sweep& sweep, const nlohmann::ordered_json& rows);

}  // namespace tilerail::cli
