#include "report/summary/intervals.hpp"

#include <algorithm>

namespace tilerail {

double union_length(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  double length = 0, covered_to = 0;
  for (const auto& [start, end] : intervals) {
    const double from = std::max(start, covered_to);
    if (end <= from) continue;
    length += end - from;
    covered_to = end;
  }
  return length;
}

}  // namespace tilerail
