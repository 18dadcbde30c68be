#pragma once

#include <string>

#include "report/compare/compare.hpp"

namespace tilerail {

/// JSON object (docs/formats.md#comparison), with a line break at the end.
std::string to_json(const Comparison& comparison);

/// The same as text for a terminal.
std::string comparison_table(const Comparison& comparison);

}  // namespace tilerail
