#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// What a quantity may be, both ends included.
template <class Quantity>
struct Range {
  Quantity least, most;
  const char* text;  // "1 MB/s to 1 PB/s"

  /// False for what is no number.
  template <class Value>
  constexpr bool holds(Value value) const {
    return value >= least && value <= most;
  }
};

/// The words for a value outside its range, in every reader.
inline std::string out_of_range(std::string_view expected) {
  return std::string{"is out of range; expected "}.append(expected);
}

}  // namespace tilerail
