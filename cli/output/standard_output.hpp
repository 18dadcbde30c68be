#pragma once

#include <string_view>

namespace tilerail::cli {

/// Writes to stdout. Throws InputError when not all of it arrives, as on a device that is full.
void print(std::string_view text);

}  // namespace tilerail::cli
