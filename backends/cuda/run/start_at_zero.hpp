#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "model/timeline.hpp"

namespace tilerail::cuda {

/// Shifts times so that the first operation starts at 0: a profiler delays it by
/// milliseconds, which untraced calls do not have.
inline void start_at_zero(std::vector<OpTime>& ops) {
  double first = std::numeric_limits<double>::infinity();
  for (const OpTime& op : ops) first = std::min(first, op.start);
  for (OpTime& op : ops) op.start -= first, op.end -= first;
}

}  // namespace tilerail::cuda
