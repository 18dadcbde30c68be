#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace tilerail {

/// The tables of a text. `bytes`: of all files of the machine so far, this one, too. Throws InputError at the place
/// where the text stops to be TOML, or when there is too much of it.
toml::table parsed_toml(std::string_view text, const std::string& file, size_t bytes);

}  // namespace tilerail
