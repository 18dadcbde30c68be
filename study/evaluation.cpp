#include "study/evaluation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/fluid/simulation.hpp"
#include "plan/validate.hpp"

namespace tilerail::study {
namespace {

/// A queue that waits for the engine of kernels waits for kernels.
const char* kind_of(const Summary::PathPart& part) {
  if (part.kind == "kernels" || (part.kind == "waiting" && part.name != "copies")) return "kernels";
  if (part.kind == "waiting" || part.kind == "issue") return part.kind.c_str();
  return "copies";
}

}  // namespace

Evaluation evaluation_of(const Summary& summary) {
  Evaluation e{.makespan = summary.makespan_s,
               .bound = summary.bound.time.value,
               .bound_by = summary.bound.binding,
               .plan_hash = summary.metadata.plan_hash,
               .tile = summary.metadata.tile,
               .ops = summary.ops,
               .devices = summary.metadata.devices};
  std::array<std::pair<std::string, double>, 4> kinds{{{"kernels", 0}, {"copies", 0}, {"issue", 0}, {"waiting", 0}}};
  for (const Summary::PathPart& part : summary.critical_path)
    for (auto& [kind, seconds] : kinds)
      if (kind == kind_of(part)) seconds += part.seconds;
  if (summary.makespan_s > 0) e.kernels = kinds.front().second / summary.makespan_s;
  e.bottleneck = std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second; })->first;
  if (!summary.critical_path.empty()) {
    const Summary::PathPart& longest = summary.critical_path.front();
    e.busiest = longest.name.empty() ? longest.kind : longest.kind + " " + longest.name;
  }
  return e;
}

Summary simulated(const Plan& plan, const Topology& topology) {
  validate(plan, topology);
  const Timeline timeline{fluid_backend, content_hash(plan), simulate_fluid(plan, topology)};
  return summarize(plan, topology, annotate(plan, topology, timeline), {});
}

std::optional<Expectation> expectation_of(const Plan& plan, const Topology& topology) {
  if (!topology.description().uncertainty) return std::nullopt;
  const std::vector<OpTime> times = simulate_fluid(plan, topology);
  const auto interval = predicted_interval(plan, topology, times);
  return interval ? std::optional{Expectation{makespan_of(times), *interval}} : std::nullopt;
}

}  // namespace tilerail::study
