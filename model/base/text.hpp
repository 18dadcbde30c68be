#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// Of ASCII: what no line of text holds.
bool is_control(char c);
/// Where a text stops to be UTF-8.
std::optional<size_t> first_bad_byte(std::string_view text);
/// How many letters UTF-8 has: its bytes but for those that go on with a letter.
size_t letters_in(std::string_view text);

/// At most so many bytes of it, and no part of a letter: where the text is cut inside
/// one, before that.
std::string_view cut(std::string_view text, size_t most);
/// The text, or the begin and the end of one that has more bytes than `most`, with "..."
/// between.
std::string shortened(std::string_view text, size_t most);
/// Fit for one line of a terminal: control characters, and bytes that are no UTF-8, as
/// "\x1b".
std::string escaped(std::string_view text);

/// Quantities as people read them, four significant digits: "12.35 ms", "8.59 GB",
/// "93.1%", "+4.2%".
std::string seconds_text(double seconds);
std::string bytes_text(double bytes);
std::string joules_text(double joules);
std::string watts_text(double watts);
std::string share_text(double share);
std::string error_text(std::optional<double> relative_error);  // "-" when there is none

/// Lines of cells, escaped, whose columns are two spaces apart and as wide as their
/// widest cell. `align` has one letter a column: 'l' or 'r'; the last one holds for all
/// further columns. Each line starts with `indent` spaces.
std::string aligned(const std::vector<std::vector<std::string>>& lines,
                    const std::string& align, size_t indent = 0);

}  // namespace tilerail
