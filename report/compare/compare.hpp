#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// One figure of two timelines; where nothing else is said, in seconds.
struct Figures {
  double predicted = 0, measured = 0;

  /// (predicted - measured) / measured; absent when only the measured value is 0, 0 when both are.
  std::optional<double> error() const;
};

/// How well a prediction matched a measurement of the same plan. Times in seconds.
struct Comparison {
  struct Named {
    std::string name;
    Figures busy;
  };
  struct OpDifference {
    uint32_t op = 0;
    OpKind kind = OpKind::copy;
    std::string queue, label;
    Figures start, duration;

    double duration_difference() const { return duration.predicted - duration.measured; }
    double start_shift() const { return start.predicted - start.measured; }
  };

  /// What the two timelines are called.
  std::array<std::string, 2> sides{"predicted", "measured"};
  bool of_prediction = true;  // else both are simulations or both are runs, and the error is a difference
  std::string plan_hash, problem, policy;
  std::string predicted_machine, measured_machine, predicted_backend, measured_backend;
  int64_t ops = 0;
  Figures makespan;
  std::optional<PredictedInterval> interval;  // of the makespan; of a prediction on a machine that tells
  Figures kernels;                            // sum of the durations of kernels
  Figures copies;                             // sum of the durations of copies
  Figures waiting;                            // sum over operations of the time from ready to start
  Figures idle;                               // sum over queues of the part of the makespan without an operation
  /// Energy (J) and energy times makespan (J s) of the devices that take part, modelled from both timelines. `counted`
  /// has the modelled energy beside what the devices counted. Absent where a timeline does not say.
  std::optional<Figures> energy, energy_delay, counted_energy;
  std::vector<Named> queues;                  // sum of durations; by display order
  std::vector<Named> links;                   // time with at least one copy; by name
  std::vector<OpDifference> worst_durations;  // at most ten, largest difference of duration first
  std::vector<OpDifference> worst_shifts;     // at most ten, largest difference of start first
};

/// Throws InputError when the two timelines are not of the same plan, or when a simulation is given as what was
/// measured of it. Two simulations, or two runs, are called by their machines or, on one machine, by their `files`.
Comparison compare(const AnnotatedTimeline& predicted, const AnnotatedTimeline& measured,
                   const std::array<std::string, 2>& files = {"first", "second"});

}  // namespace tilerail
