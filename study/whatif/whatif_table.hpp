#pragma once

#include <string>

#include "study/whatif/whatif.hpp"

namespace tilerail::study {

/// "x2", "x1/2" or "no limit".
std::string change_text(double factor);

/// A header and a line for each row (docs/formats.md#what-if).
std::string to_csv(const WhatIf& what);
/// The same rows as JSON objects, with a line break at the end.
std::string to_json(const WhatIf& what);

}  // namespace tilerail::study
