#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace tilerail::study {

/// A simulation is compute bound where kernels, or waiting for them, take at least this
/// share of its critical path. docs/model.md#what-if
inline constexpr double compute_bound_from = 0.9;

/// What is told of a plan that was simulated. Times in seconds.
struct Evaluation {
  double makespan = 0;
  double bound = 0;  // of any plan on that machine
  std::string binding;
  double kernels = 0;  // share of the critical path that runs kernels or waits for them
  TimeUse bottleneck =
      TimeUse::kernels;  // most of the critical path: kernels, copies, issue or waiting
  std::string busiest =
      {};  // the part of the critical path that is longest: "group host memory"
  std::string plan_hash;
  int64_t tile = 0, ops = 0;
};

Evaluation evaluation_of(const Summary& summary);

/// The plan simulated by the fluid machine. Throws InputError if it does not fit the
/// machine.
Summary simulated(const Plan& plan, const Topology& topology);

/// What is expected of a plan on a machine that tells how far its figures may be off;
/// else nothing, without simulating.
struct Expectation {
  Seconds makespan;
  PredictedInterval interval;
};
std::optional<Expectation> expectation_of(const Plan& plan, const Topology& topology);

}  // namespace tilerail::study
