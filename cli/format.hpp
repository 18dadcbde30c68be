#pragma once

#include <string>

#include "model/units.hpp"

namespace tilerail::cli {

/// Quantities as people read them, with three or four significant digits and the unit: "24.0 GB/s", "2.50 us".
std::string text_of(Bytes bytes);
std::string text_of(Seconds seconds);
std::string text_of(Rate rate);
std::string text_of(FlopRate rate);

/// Only the number, in GB/s, for cells of a table whose head states the unit.
std::string gigabytes(Rate rate);

}  // namespace tilerail::cli
