#pragma once

#include <span>
#include <string>

namespace tilerail {

/// Lists the existing names in an error about an unknown one: "known: 'a', 'b'". Of
/// many names: the first ones and the number of the others.
std::string known_names(std::span<const std::string> names);

}  // namespace tilerail
