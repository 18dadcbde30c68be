#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace tilerail {

/// Parses the tables of a text. Throws InputError with the place if the text is not TOML
/// or is too long.
toml::table parsed_toml(std::string_view text, const std::string& file);

}  // namespace tilerail
