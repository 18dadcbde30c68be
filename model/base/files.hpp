#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// Replaces the file as a whole: a reader sees the old content or the new one, and a failure leaves the old one.
/// Devices and pipes are written in place. Throws InputError naming the path and the reason.
void write_file_atomically(const std::string& path, std::string_view content);

/// The whole file. Throws InputError naming the path and the reason.
std::string read_file(const std::string& path);

}  // namespace tilerail
