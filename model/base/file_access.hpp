#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// Throws InputError "'PATH' cannot be ACTION: ..." with the text of this errno.
[[noreturn]] void fail_access(const std::string& action, const std::string& path,
                              int error);

/// Whether `path` still names the open file.
bool is_named(int descriptor, const std::string& path);

/// Writes all of the text to an open file. Throws InputError with the path and the
/// reason.
void write_whole(int descriptor, std::string_view text, const std::string& path);

}  // namespace tilerail
