#pragma once

#include "model/base/units.hpp"

namespace tilerail {

/// How soon a sub-problem can start: when all its inputs are available by the clock, and
/// how many are missing now.
struct InputRank {
  Seconds eta{0};
  int missing = 0;

  /// By arrival, then by fewer missing inputs. Arrivals that differ by rounding are
  /// equal.
  bool before(const InputRank& other) const {
    constexpr Seconds tie{1e-12};
    if (eta < other.eta - tie || other.eta < eta - tie) return eta < other.eta;
    return missing < other.missing;
  }
};

}  // namespace tilerail
