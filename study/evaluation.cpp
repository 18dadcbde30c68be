#include "study/evaluation.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "backends/fluid/simulation.hpp"
#include "study/simulator.hpp"

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

void to_json(nlohmann::ordered_json& json, const Evaluation& e) {
  json = {{"makespan_s", e.makespan},
          {"bound_s", e.bound},
          {"bound_by", e.bound_by},
          {"kernels", e.kernels},
          {"bottleneck", e.bottleneck},
          {"busiest", e.busiest},
          {"plan_hash", e.plan_hash},
          {"tile", e.tile},
          {"ops", e.ops},
          {"devices", e.devices}};
}

void from_json(const nlohmann::ordered_json& json, Evaluation& e) {
  json.at("makespan_s").get_to(e.makespan), json.at("bound_s").get_to(e.bound);
  json.at("bound_by").get_to(e.bound_by), json.at("kernels").get_to(e.kernels);
  json.at("bottleneck").get_to(e.bottleneck), json.at("busiest").get_to(e.busiest);
  json.at("plan_hash").get_to(e.plan_hash), json.at("tile").get_to(e.tile);
  json.at("ops").get_to(e.ops), json.at("devices").get_to(e.devices);
}

Summary simulated(const Plan& plan, const Topology& topology) {
  const Timeline timeline = simulator_of(topology)->execute(plan);
  return summarize(plan, topology, annotate(plan, topology, timeline), {});
}

std::optional<Expectation> expectation_of(const Plan& plan, const Topology& topology) {
  if (!topology.description().uncertainty) return std::nullopt;
  const std::vector<OpTime> times = simulate_fluid(plan, topology);
  const auto interval = predicted_interval(plan, topology, times);
  return interval ? std::optional{Expectation{makespan_of(times), *interval}} : std::nullopt;
}

}  // namespace tilerail::study
