#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// The parts of a line between blanks; none is empty.
std::vector<std::string> words_of(std::string_view line);

/// The finite number that is all of a text; nothing of other texts.
std::optional<double> finite_number(std::string_view text);

}  // namespace tilerail
