#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// The lines of a text, without '\r' at their ends (CRLF) and byte order marks at their
/// beginnings.
std::vector<std::string_view> lines_of(std::string_view text);

/// The words of a line, separated by blanks; never empty.
std::vector<std::string> words_of(std::string_view line);

/// The finite number that a text consists of; none for other texts.
std::optional<double> finite_number(std::string_view text);

/// The whole number that a text consists of; none for other texts or out of range.
std::optional<int> whole_number(std::string_view text, int least, int most);

}  // namespace tilerail
