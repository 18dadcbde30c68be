#pragma once

#include <utility>
#include <vector>

namespace tilerail {

/// Half-open intervals of time, in seconds.
using Intervals = std::vector<std::pair<double, double>>;

/// Length of the union: time during which at least one interval is open.
double union_length(Intervals intervals);

}  // namespace tilerail
