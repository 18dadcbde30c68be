#pragma once

#include <optional>
#include <string>

namespace tilerail::cli {

/// The python3 that has matplotlib: the one on PATH, else the system's own. Nothing when neither has it.
std::optional<std::string> python_with_matplotlib();

}  // namespace tilerail::cli
