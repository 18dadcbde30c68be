#pragma once

#include <string>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// CSV with `# key=value` lines, a header and one row an operation (docs/formats.md#timeline). Numbers are written so
/// that reading gives the same value. Throws InputError when a name holds a control character.
std::string to_csv(const AnnotatedTimeline& timeline);

}  // namespace tilerail
