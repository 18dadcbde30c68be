#pragma once

#include <string>

#include "study/sweep/sweep_table.hpp"

namespace tilerail::cli {

/// The points, if they are few, else the fastest and for each axis what its values come to; then those that failed.
std::string to_text(const study::SweepTable& table);

}  // namespace tilerail::cli
