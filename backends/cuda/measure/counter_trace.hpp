#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/counted_energy.hpp"

namespace tilerail::cuda {

/// Readings of a counter of joules that only moves now and then, about ten times a second on an H200. Between two
/// readings the counter may stand still or hold a whole step, so that a difference of readings over the time between
/// them is wrong by up to a step at each end: by half for 200 ms. What counts here are the steps, at the times they
/// were seen.
class CounterTrace {
 public:
  struct Step {
    double time = 0;    // s, when it was first seen
    double joules = 0;  // the counter since then
  };

  /// Readings ascend in time. One of 0 J is none. A counter that falls was reset: what was read before is dropped.
  void add(double time, double joules);

  /// Where the counter stood still before is not known of the first reading, so it is no step.
  const std::vector<Step>& steps() const { return steps_; }
  /// Seconds from the first step to the last; 0 for fewer than two.
  double span() const { return steps_.empty() ? 0 : steps_.back().time - steps_.front().time; }

  /// Mean power from the first step to the last; absent where they are less than least_span apart.
  std::optional<double> watts() const;

  /// Joules from `begin` to `end`, both between the first and the last step; power is constant from step to step.
  double between(double begin, double end) const { return at(end) - at(begin); }

  static constexpr double least_span = 0.4;  // s: four steps of the slowest counters

 private:
  double at(double time) const;

  double last_ = 0;  // J, of the last reading
  std::vector<Step> steps_;
};

/// `ends`: when calls ended, ascending, in the time of the traces. Absent where the calls that lie between steps of all
/// counters took less than CounterTrace::least_span.
std::optional<CountedEnergy> energy_of_calls(std::span<const CounterTrace> devices, std::span<const double> ends);

}  // namespace tilerail::cuda
