#pragma once

#include <array>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"

namespace tilerail {

/// The result of a run, the input of all metrics. Seconds and joules are above 0.
struct Outcome {
  Flops flops;
  Seconds time;
  Joules energy;  // of the participating devices
};

/// A figure of merit of runs: larger is better.
struct Metric {
  std::string_view name, unit;
  bool needs_energy;
  double (*of)(const Outcome&);
};

/// With P the rate in flop/s and W the mean watts, edp is the inverse energy-delay
/// product P^2 / W and pdp the inverse power-delay product P / W. To add a metric, add a
/// line here. Source: thesis 3.2.3.
inline constexpr std::array metrics{
    Metric{"perf", "flop/s", false,
           [](const Outcome& o) { return (o.flops / o.time).value; }},
    Metric{"edp", "flop^2/(J s)", true,
           [](const Outcome& o) {
             return o.flops.value / o.energy.value * (o.flops / o.time).value;
           }},
    Metric{"pdp", "flop/J", true,
           [](const Outcome& o) { return o.flops.value / o.energy.value; }},
};

/// Shares as PARALiA's library deals by a metric: in proportion to the metric of each
/// device's part and, for metrics of energy, to its flops; their sum is 1. `outcomes`
/// must not be empty.
inline std::vector<double> parts_by(const Metric& metric,
                                    std::span<const Outcome> outcomes) {
  std::vector<double> parts;
  for (const Outcome& outcome : outcomes)
    parts.push_back((metric.needs_energy ? outcome.flops.value : 1) * metric.of(outcome));
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& part : parts) part /= sum;
  return parts;
}

/// Energy-delay product in J s: smaller is better.
constexpr double energy_delay(Joules energy, Seconds time) {
  return energy.value * time.value;
}

}  // namespace tilerail
