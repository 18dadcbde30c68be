#include "study/evaluation.hpp"

#include <algorithm>
#include <map>

#include "backends/fluid/simulation.hpp"
#include "plan/validate.hpp"

namespace tilerail::study {
namespace {

/// Waiting for the engine of kernels counts as kernels.
TimeUse kind_of(const Summary::PathPart& part) {
  if (part.kind == TimeUse::waiting && part.name != to_string(TimeUse::copies))
    return TimeUse::kernels;
  const bool is_copy = part.kind == TimeUse::link || part.kind == TimeUse::group ||
                       part.kind == TimeUse::memory;
  return is_copy ? TimeUse::copies : part.kind;
}

}  // namespace

Evaluation evaluation_of(const Summary& summary) {
  Evaluation e{.makespan = summary.makespan_s,
               .bound = summary.bound.time.value,
               .binding = summary.bound.binding,
               .plan_hash = summary.metadata.plan_hash,
               .tile = summary.metadata.tile,
               .ops = summary.ops};
  std::map<TimeUse, double> kinds{{TimeUse::kernels, 0}};
  for (const Summary::PathPart& part : summary.critical_path)
    kinds[kind_of(part)] += part.seconds;
  if (summary.makespan_s > 0) e.kernels = kinds[TimeUse::kernels] / summary.makespan_s;
  e.bottleneck = std::ranges::max_element(kinds, {}, [](const auto& kind) {
                   return kind.second;
                 })->first;
  return e;
}

Columns<PredictedInterval> interval_columns() {
  return {{"interval_low_s", &PredictedInterval::low},
          {"interval_high_s", &PredictedInterval::high}};
}

Timeline fluid_timeline(const Plan& plan, const Topology& topology) {
  validate(plan, topology);
  return {fluid_backend, content_hash(plan), simulate_fluid(plan, topology)};
}

Summary simulated(const Plan& plan, const Topology& topology) {
  const Timeline timeline = fluid_timeline(plan, topology);
  return summarize(plan, topology, annotate(plan, topology, timeline), {});
}

std::optional<Expectation> expectation_of(const Plan& plan, const Topology& topology) {
  if (!topology.description().uncertainty) return std::nullopt;
  const std::vector<OpTime> times = simulate_fluid(plan, topology);
  const auto interval = predicted_interval(plan, topology, times);
  return interval ? std::optional{Expectation{makespan_of(times), *interval}}
                  : std::nullopt;
}

}  // namespace tilerail::study
