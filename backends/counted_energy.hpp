#pragma once

#include <numeric>
#include <vector>

namespace tilerail {

/// Energy of back-to-back calls, counted from the end of one call to the end of another.
struct CountedEnergy {
  int calls = 0;
  double seconds = 0;          // of one call
  std::vector<double> joules;  // of one call, by device

  double total() const { return std::accumulate(joules.begin(), joules.end(), 0.0); }
  double watts() const { return total() / seconds; }  // mean
};

}  // namespace tilerail
