#pragma once

#include <functional>
#include <string>

namespace tilerail {

/// The content of the file at a path. Throws InputError when it cannot be read.
using FileReader = std::function<std::string(const std::string& path)>;

}  // namespace tilerail
