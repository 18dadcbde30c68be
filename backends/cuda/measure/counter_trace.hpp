#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/counted_energy.hpp"

namespace tilerail::cuda {

/// Readings of a counter of joules that moves every 20 to 100 ms only
/// (docs/model.md#counted-energy). Between two readings it may stand still or move by a
/// whole step. So a difference of two readings is wrong by up to a step at each end: with
/// steps of 100 ms by half for readings that are 200 ms apart. This class keeps the
/// steps, and the times at which they were seen.
class CounterTrace {
 public:
  struct Step {
    double time = 0;    // s, when it was first seen
    double joules = 0;  // the counter since then
  };

  /// Adds a reading; times ascend. A reading of 0 J is ignored. A counter that falls was
  /// reset, so that earlier readings are dropped.
  void add(double time, double joules);

  /// The first reading is no step: how long the counter has stood there is not known.
  const std::vector<Step>& steps() const { return steps_; }
  /// Seconds from the first step to the last; 0 for fewer than two.
  double span() const {
    return steps_.empty() ? 0 : steps_.back().time - steps_.front().time;
  }

  /// Mean power from the first step to the last; absent where they are less than
  /// least_span apart.
  std::optional<double> watts() const;

  /// Joules from `begin` to `end`, both between the first and the last step; power is
  /// constant from step to step.
  double between(double begin, double end) const { return at(end) - at(begin); }

  static constexpr double least_span = 0.4;  // s: four steps of the slowest counters

 private:
  double at(double time) const;

  double last_ = 0;  // J, of the last reading
  std::vector<Step> steps_;
};

/// `ends`: when calls ended, ascending, in the time of the traces. Absent where the calls
/// that lie between steps of all counters took less than CounterTrace::least_span.
std::optional<CountedEnergy> energy_of_calls(std::span<const CounterTrace> devices,
                                             std::span<const double> ends);

}  // namespace tilerail::cuda
