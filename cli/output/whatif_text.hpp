#pragma once

#include <string>

#include "study/whatif/whatif.hpp"

namespace tilerail::cli {

/// The unchanged machine, a table of effective changes, and the parts without effect.
std::string to_text(const study::WhatIf& what);

}  // namespace tilerail::cli
