#pragma once

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

}  // namespace tilerail
