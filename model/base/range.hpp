#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// Allowed values of a quantity, both ends included.
template <class Quantity>
struct Range {
  Quantity least, most;
  const char* text;  // "1 MB/s to 1 PB/s"

  /// False for NaN.
  template <class Value>
  constexpr bool holds(Value value) const {
    return value >= least && value <= most;
  }
};

/// Error text for a value outside its range, for every reader.
inline std::string out_of_range(std::string_view expected) {
  return std::string{"is out of range; expected "}.append(expected);
}

}  // namespace tilerail
