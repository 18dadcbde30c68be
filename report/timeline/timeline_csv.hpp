#pragma once

#include <string>
#include <string_view>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// CSV with `# key=value` lines, a header and one row an operation
/// (docs/formats.md#timeline). Numbers are written so that reading gives the same value.
/// Throws InputError when a name holds a control character.
std::string to_csv(const AnnotatedTimeline& timeline);

/// The inverse of to_csv; rows may come in any order. `file` only names the place in
/// errors. Throws InputError "file:line:column: ..." for everything that to_csv does not
/// write: missing or unknown metadata, other columns, numbers that are not finite or out
/// of range, operations that end before they start, ids that are missing or doubled,
/// queues with several devices or routes, a file that was cut off.
AnnotatedTimeline timeline_from_csv(std::string_view csv, const std::string& file);
AnnotatedTimeline load_timeline(const std::string& path);

}  // namespace tilerail
