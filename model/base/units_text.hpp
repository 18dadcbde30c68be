#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/base/units.hpp"

namespace tilerail {

/// Quantities as people write them: a number, blanks, a unit. Decimal prefixes are powers
/// of ten, KiB, MiB, GiB and TiB powers of two; "2.5 us" gives the double nearest
/// to 2.5e-6. Any sign is accepted. Throw InputError "'48 Gb' has no known unit; expected
/// GB/s or GiB/s".
Bytes parse_bytes(std::string_view text, std::string_view subject = "");
Seconds parse_seconds(std::string_view text, std::string_view subject = "");
Rate parse_rate(std::string_view text, std::string_view subject = "");
FlopRate parse_flop_rate(std::string_view text, std::string_view subject = "");
Watts parse_watts(std::string_view text, std::string_view subject = "");

/// The inverse: parsing the result gives the same double. Values are finite.
std::string to_text(Bytes value);
std::string to_text(Seconds value);
std::string to_text(Rate value);
std::string to_text(FlopRate value);
std::string to_text(Watts value);

/// As people compare them: three significant digits of the largest decimal unit in which
/// it is at least one, "3.3 us".
std::string brief_text(Seconds value);
std::string brief_text(Rate value);
std::string brief_text(FlopRate value);

/// The shortest decimal form that reads back as the same double.
std::string shortest(double value);
inline std::string to_text(double value) { return shortest(value); }
/// As one types it: a whole number below 10^15 with all its digits, any other the
/// shortest.
std::string typed(double value);

/// `text` in single quotes for messages: cut, control characters and bytes that are not
/// UTF-8 as "\x1b".
std::string in_quotes(std::string_view text, size_t longest = 80);

}  // namespace tilerail
