#pragma once

#include <string>

#include "study/whatif/whatif.hpp"

namespace tilerail::cli {

/// The machine as it is, a table of what changes it, and the parts that change nothing.
std::string to_text(const study::WhatIf& what);

}  // namespace tilerail::cli
