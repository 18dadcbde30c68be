#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// What some editors write before a text in UTF-8.
inline constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

/// The lines of a text, without the '\r' of CRLF at their ends and without marks at their beginnings.
std::vector<std::string_view> lines_of(std::string_view text);

/// The parts of a line between blanks; none is empty.
std::vector<std::string> words_of(std::string_view line);

/// The finite number that is all of a text; nothing of other texts.
std::optional<double> finite_number(std::string_view text);

}  // namespace tilerail
