#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// The lines of a text, without the '\r' of CRLF at their ends and without byte order
/// marks at their beginnings.
std::vector<std::string_view> lines_of(std::string_view text);

/// The parts of a line between blanks; none is empty.
std::vector<std::string> words_of(std::string_view line);

/// The finite number that is all of a text; nothing of other texts.
std::optional<double> finite_number(std::string_view text);

/// The whole number that is all of a text, nothing of others and of those out of range.
std::optional<int> whole_number(std::string_view text, int least, int most);

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace tilerail
