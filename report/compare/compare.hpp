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

  /// (predicted - measured) / measured; absent when only the measured value is 0, 0 when
  /// both are.
  std::optional<double> error() const;
  double difference() const { return predicted - measured; }
};

/// How well a prediction matched a measurement of the same plan. Times in seconds.
struct Comparison {
  struct OpDifference {
    uint32_t op = 0;
    OpKind kind = OpKind::copy;
    std::string queue, label;
    Figures duration;
  };

  /// What the two timelines are called.
  std::array<std::string, 2> sides{"predicted", "measured"};
  bool of_prediction =
      true;  // else both are simulations or both are runs, and the error is a difference
  TimelineMetadata predicted, measured;
  int64_t ops = 0;
  Figures makespan;
  std::optional<PredictedInterval>
      interval;     // of the makespan; of a prediction on a machine that tells
  Figures kernels;  // sum of the durations of kernels
  Figures copies;   // sum of the durations of copies
  Figures waiting;  // sum over operations of the time from ready to start
  Figures idle;     // sum over queues of the part of the makespan without an operation
  /// Energy (J) of the devices that take part, modelled from both timelines. `counted`
  /// has the modelled energy beside what the devices counted. Absent where a timeline
  /// does not say.
  std::optional<Figures> energy, counted_energy;
  std::vector<OpDifference>
      worst_durations;  // at most ten, largest difference of duration first
};

/// Throws InputError when the two timelines are not of the same plan, or when a
/// simulation is given as what was measured of it. Two simulations, or two runs, are
/// called by their machines or, on one machine, by their `files`.
Comparison compare(const AnnotatedTimeline& predicted, const AnnotatedTimeline& measured,
                   const std::array<std::string, 2>& files = {"first", "second"});

/// JSON object (docs/formats.md#comparison), with a line break at the end.
std::string to_json(const Comparison& comparison);

/// The same as text for a terminal.
std::string comparison_table(const Comparison& comparison);

}  // namespace tilerail
