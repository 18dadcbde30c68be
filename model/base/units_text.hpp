#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/base/units.hpp"

namespace tilerail {

/// Parses a quantity: a number, blanks, a unit. Decimal prefixes are powers of ten; KiB,
/// MiB, GiB and TiB are powers of two. "2.5 us" gives the double nearest to 2.5e-6. Any
/// sign is accepted. Throw InputError "'48 Gb' has no known unit; expected GB/s or
/// GiB/s".
Bytes parse_bytes(std::string_view text, std::string_view subject = "");
Seconds parse_seconds(std::string_view text, std::string_view subject = "");
Rate parse_rate(std::string_view text, std::string_view subject = "");
FlopRate parse_flop_rate(std::string_view text, std::string_view subject = "");
Watts parse_watts(std::string_view text, std::string_view subject = "");

/// The inverse: parsing the result gives the same double. Values must be finite.
std::string to_text(Bytes value);
std::string to_text(Seconds value);
std::string to_text(Rate value);
std::string to_text(FlopRate value);
std::string to_text(Watts value);

/// For comparison by readers: three significant digits in the largest decimal unit in
/// which the value is at least one, "3.3 us".
std::string brief_text(Seconds value);
std::string brief_text(Rate value);
std::string brief_text(FlopRate value);

/// The shortest decimal text that reads back as the same double.
std::string shortest(double value);
inline std::string to_text(double value) { return shortest(value); }
/// As users type it: all digits of a whole number below 10^15, else the shortest text.
std::string typed(double value);

/// Quotes `text` for messages: cut, with control characters and bytes that are not UTF-8
/// as "\x1b".
std::string in_quotes(std::string_view text, size_t longest = 80);

}  // namespace tilerail
