#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace tilerail {

/// The tables of a text. Throws InputError at the place where the text stops to be TOML,
/// or when there is too much of it.
toml::table parsed_toml(std::string_view text, const std::string& file);

}  // namespace tilerail
