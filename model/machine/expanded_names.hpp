#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/toml_table.hpp"

namespace tilerail {

/// The names that a text stands for: "gpu[0-3]" for four; '*' and '?' stay as they are. At most `most`.
std::vector<std::string> expanded_names(const TomlValue& text, std::size_t most);

/// What a table calls its entries: `name` as it is, or `names`, ranges or a list of them.
std::vector<std::string> expanded_names(const TomlTable& table);

/// The part of `items` that is of entry `index` of `count`: they are cut into as many parts of equal length. Reports at
/// `value` when that cannot be.
std::vector<std::string> part_of(const std::vector<std::string>& items, std::size_t index, std::size_t count,
                                 const TomlValue& value);

}  // namespace tilerail
