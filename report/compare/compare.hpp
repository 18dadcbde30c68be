#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// A figure of two timelines; default unit: seconds.
struct Figures {
  double predicted = 0, measured = 0;

  /// (predicted - measured) / measured; absent if only the measured value is 0, 0 if both
  /// are.
  std::optional<double> error() const;
  double difference() const { return predicted - measured; }
};

/// Comparison of a prediction with a measurement of the same plan. Times in seconds.
struct Comparison {
  struct OpDifference {
    uint32_t op = 0;
    OpKind kind = OpKind::copy;
    std::string queue, label;
    Figures duration;
  };

  /// Names of the two timelines.
  std::array<std::string, 2> sides{"predicted", "measured"};
  bool of_prediction =
      true;  // else two simulations or two runs: the error is a difference
  TimelineMetadata predicted, measured;
  int64_t ops = 0;
  Figures makespan;
  std::optional<PredictedInterval>
      interval;     // of the makespan; only of predictions with uncertainties
  Figures kernels;  // sum of the durations of kernels
  Figures copies;   // sum of the durations of copies
  Figures waiting;  // sum over operations of the time from ready to start
  Figures idle;     // sum over queues of the part of the makespan without an operation
  /// Energy (J) of the participating devices, modelled from both timelines. `counted` is
  /// modelled energy against the devices' counters. Absent if missing in a timeline.
  std::optional<Figures> energy, counted_energy;
  std::vector<OpDifference>
      worst_durations;  // at most ten, largest difference of duration first
};

/// Throws InputError if the timelines have different plans, or if the measured one is a
/// simulation and the predicted one is not. Two simulations, or two runs, are named after
/// their machines or, on one machine, after their `files`.
Comparison compare(const AnnotatedTimeline& predicted, const AnnotatedTimeline& measured,
                   const std::array<std::string, 2>& files = {"first", "second"});

/// JSON object (docs/formats.md#comparison), with a line break at the end.
std::string to_json(const Comparison& comparison);

/// Text for a terminal.
std::string comparison_table(const Comparison& comparison);

}  // namespace tilerail
