#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// All throw InputError "WHAT: 'TEXT' is not ...", where `what` is the option's name.

/// A count of rows, columns or elements: digits and an optional suffix K (1024) or M (1024^2): "16K" is 16384.
std::int64_t parse_size(std::string_view text, std::string_view what);

/// An integer in [least, most].
std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t least, std::int64_t most);

/// A finite real number.
double parse_real(std::string_view text, std::string_view what);

/// "M,N,K", or one value for a cube.
std::array<std::int64_t, 3> parse_shape(std::string_view text, std::string_view what);

/// "0,2,4-6" as {0, 2, 4, 5, 6}. Refuses a number that is listed twice.
std::vector<int> parse_numbers(std::string_view text, std::string_view what);

/// The parts of `text` between separators; empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace tilerail
