#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// Whether an ASCII character is a control character.
bool is_control(char c);
/// Position of the first byte that is not UTF-8.
std::optional<size_t> first_bad_byte(std::string_view text);
/// Number of UTF-8 characters: all bytes except continuation bytes.
size_t letters_in(std::string_view text);

/// The first bytes, at most `most`, without an incomplete character at the end.
std::string_view cut(std::string_view text, size_t most);
/// The text, or its beginning and end with "..." between if it has more bytes than
/// `most`.
std::string shortened(std::string_view text, size_t most);
/// Escapes a text for one line of a terminal: control characters and bytes that are not
/// UTF-8 become "\x1b".
std::string escaped(std::string_view text);

/// Quantities for human readers, four significant digits: "12.35 ms", "8.59 GB", "93.1%",
/// "+4.2%".
std::string seconds_text(double seconds);
std::string bytes_text(double bytes);
std::string joules_text(double joules);
std::string watts_text(double watts);
std::string share_text(double share);
std::string error_text(std::optional<double> relative_error);  // "-" without a value

using Lines = std::vector<std::vector<std::string>>;

/// Formats lines of escaped cells in columns: each is as wide as its widest cell, two
/// spaces apart. `align` has one letter per column: 'l' or 'r'; the last letter applies
/// to all further columns. Each line starts with `indent` spaces.
std::string aligned(Lines lines, const std::string& align, size_t indent = 0);

}  // namespace tilerail
