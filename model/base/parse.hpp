#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// All functions throw InputError with this subject and with the text as the value.

/// A count of rows, columns or elements: digits and an optional suffix K (1024) or M
/// (1024^2): "16K" is 16384.
int64_t parse_size(std::string_view text, std::string_view subject);

/// An integer in [least, most].
int64_t parse_integer(std::string_view text, std::string_view subject, int64_t least,
                      int64_t most);

/// A finite real number.
double parse_real(std::string_view text, std::string_view subject);

/// "M,N,K", or one value for a cube.
std::array<int64_t, 3> parse_shape(std::string_view text, std::string_view subject);

/// "0,2,4-6" as {0, 2, 4, 5, 6}. Rejects duplicate numbers.
std::vector<int> parse_numbers(std::string_view text, std::string_view subject);

/// The parts of `text` between separators; empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Removes surrounding blanks.
std::string trimmed(std::string_view text);

/// Splits at '&' and removes blanks, although parts may contain '&': each part is the
/// shortest that `is_known` accepts and that leaves known parts up to the end. Empty if
/// no such split exists.
std::vector<std::string> known_parts(
    std::string_view text, const std::function<bool(const std::string&)>& is_known);

}  // namespace tilerail
