#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/counted_energy.hpp"

namespace tilerail::cuda {

/// Readings of a counter of joules that changes only every 20 to 100 ms
/// (docs/model.md#counted-energy). Between two readings it can stand still or change by a
/// whole step. So a difference of two readings is wrong by up to a step at each end: by
/// half, if steps take 100 ms and the readings are 200 ms apart. This class stores the
/// steps and the times when they were first read.
class CounterTrace {
 public:
  struct Step {
    double time = 0;    // s, of the first reading of this value
    double joules = 0;  // value of the counter since then
  };

  /// Adds a reading; times ascend. A reading of 0 J is ignored. If the counter falls, it
  /// was reset, and earlier readings are dropped.
  void add(double time, double joules);

  /// Excludes the first reading, whose start is unknown.
  const std::vector<Step>& steps() const { return steps_; }
  /// Seconds from the first step to the last; 0 for fewer than two.
  double span() const {
    return steps_.empty() ? 0 : steps_.back().time - steps_.front().time;
  }

  /// Mean power from the first step to the last; absent if they are less than least_span
  /// apart.
  std::optional<double> watts() const;

  /// Joules from `begin` to `end`, both between the first and the last step; power is
  /// assumed constant between steps.
  double between(double begin, double end) const { return at(end) - at(begin); }

  static constexpr double least_span = 0.4;  // s: four steps of the slowest counters

 private:
  double at(double time) const;

  double last_ = 0;  // J, of the last reading
  std::vector<Step> steps_;
};

/// `ends`: end times of the calls, ascending, on the clock of the traces. Absent if the
/// calls between steps of all counters took less than CounterTrace::least_span.
std::optional<CountedEnergy> energy_of_calls(std::span<const CounterTrace> devices,
                                             std::span<const double> ends);

}  // namespace tilerail::cuda
