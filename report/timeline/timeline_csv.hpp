#pragma once

#include <string>
#include <string_view>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// CSV with `# key=value` lines, a header and one row per operation
/// (docs/formats.md#timeline). Numbers are exact. Throws InputError if a name contains a
/// control character.
std::string to_csv(const AnnotatedTimeline& timeline);

/// The inverse of to_csv; rows may have any order. `file` is only for errors. Throws
/// InputError "file:line:column: ..." for anything that to_csv does not write: missing or
/// unknown metadata, other columns, numbers that are not finite or out of range,
/// operations that end before they start, missing or repeated ids, queues with several
/// devices or routes, truncated files.
AnnotatedTimeline timeline_from_csv(std::string_view csv, const std::string& file);
AnnotatedTimeline load_timeline(const std::string& path);

}  // namespace tilerail
