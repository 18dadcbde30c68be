#pragma once

#include <string>

#include "study/sweep/sweep_table.hpp"

namespace tilerail::cli {

/// For each figure of the machine that a sweep varies, and all values of its other keys: from which value on more gains
/// next to nothing, and from which on the machine is compute bound, simulated and by the bound. Empty where no such
/// figure is varied, and of more than a screen of other values. docs/formats.md#sweep
std::string answers(const study::SweepTable& table);

}  // namespace tilerail::cli
