#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// All throw InputError of this subject, with the text as its value.

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

/// "0,2,4-6" as {0, 2, 4, 5, 6}. Refuses a number that is listed twice.
std::vector<int> parse_numbers(std::string_view text, std::string_view subject);

/// The parts of `text` between separators; empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Without the blanks around it.
std::string trimmed(std::string_view text);

/// What stands between '&', without blanks, where a part may hold '&' itself: each part
/// is the shortest that `is_known`, and after which there are such parts up to the end.
/// None where there is no such way.
std::vector<std::string> known_parts(
    std::string_view text, const std::function<bool(const std::string&)>& is_known);

}  // namespace tilerail
