#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "study/sweep/sweep.hpp"

namespace tilerail::cli {

/// The points, if they are few, else the fastest and for each axis what its values come
/// to; then those that failed.
std::string to_text(const study::Sweep& sweep, const nlohmann::ordered_json& rows);

}  // namespace tilerail::cli
