#pragma once

#include <span>
#include <string>

namespace tilerail {

/// What there is instead of a name that is unknown: "there are 'a', 'b'", of many the
/// first and how many there are more; "there is none" without any.
std::string known_names(std::span<const std::string> names);

}  // namespace tilerail
