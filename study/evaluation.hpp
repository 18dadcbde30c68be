#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/base/table.hpp"
#include "report/summary/summary.hpp"

namespace tilerail::study {

/// A simulation is compute bound if kernels, or waiting for them, take at least this
/// share of its critical path. docs/model.md#what-if
inline constexpr double compute_bound_from = 0.9;

/// Results of a simulated plan. Times in seconds.
struct Evaluation {
  double makespan = 0;
  double bound = 0;  // of any plan on this machine
  Binding binding;
  double kernels = 0;  // share of the critical path that runs kernels or waits for them
  TimeUse bottleneck = TimeUse::kernels;  // the largest share of the critical path:
                                          // kernels, copies, issue or waiting
  std::string plan_hash;
  int64_t tile = 0, ops = 0;

  /// Makespan / bound; nullopt if the bound is 0.
  std::optional<double> over_bound() const {
    return bound > 0 ? std::optional{makespan / bound} : std::nullopt;
  }
};

Evaluation evaluation_of(const Summary& summary);

/// Both ends.
Columns<PredictedInterval> interval_columns();

/// The times of the plan on the fluid machine. Throws InputError if it does not fit the
/// machine.
Timeline fluid_timeline(const Plan& plan, const Topology& topology);
/// The same, summarized.
Summary simulated(const Plan& plan, const Topology& topology);

/// The expected makespan of a plan. Without uncertainties in the machine's description:
/// nullopt, and no simulation.
struct Expectation {
  Seconds makespan;
  PredictedInterval interval;
};
std::optional<Expectation> expectation_of(const Plan& plan, const Topology& topology);

}  // namespace tilerail::study
