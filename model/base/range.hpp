#pragma once

namespace tilerail {

/// What a quantity may be, both ends included.
template <class Quantity>
struct Range {
  Quantity least, most;
  const char* text;  // "1 MB/s to 1 PB/s"

  /// False for what is no number.
  constexpr bool holds(Quantity value) const { return value >= least && value <= most; }
};

}  // namespace tilerail
