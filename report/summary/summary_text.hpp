#pragma once

#include <string>

#include "report/summary/summary.hpp"

namespace tilerail {

/// JSON object (docs/formats.md#summary), with a line break at the end.
std::string to_json(const Summary& summary);

/// The same as text for a terminal; queues and links that moved nothing are left out.
std::string summary_table(const Summary& summary);

}  // namespace tilerail
