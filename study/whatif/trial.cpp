#include "study/whatif/trial.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "study/simulator.hpp"

namespace tilerail::study {
namespace {

std::vector<std::string> links_of(const Topology& topology, MemoryId src, MemoryId dst) {
  std::vector<std::string> names;
  for (const LinkId link : topology.route(src, dst)) names.push_back(topology.link(link).name);
  return names;
}

/// Of the pairs of memories that either plan copies between.
std::vector<ChangedRoute> changed_routes(const Plan& base, const Plan& other, const Topology& before,
                                         const Topology& after) {
  std::set<std::pair<MemoryId, MemoryId>> pairs;
  for (const Plan* plan : {&base, &other})
    for (const Queue& queue : plan->queues)
      if (queue.src != queue.dst) pairs.emplace(queue.src, queue.dst);
  std::vector<ChangedRoute> changed;
  for (const auto& [src, dst] : pairs) {
    ChangedRoute route{before.memory(src).name, before.memory(dst).name, links_of(before, src, dst),
                       links_of(after, src, dst)};
    if (route.before != route.after) changed.push_back(std::move(route));
  }
  return changed;
}

}  // namespace

Plan Question::plan_on(const Topology& changed) const { return plan_job(changed, problem, machine, policy).plan; }

Evaluation Question::evaluate_on(const Topology& changed, const Plan& kept) const {
  Evaluation planned = evaluation_of(simulated(plan_on(changed), changed));
  Evaluation as_before = evaluation_of(simulated(kept, changed));
  return planned.makespan <= as_before.makespan ? planned : as_before;
}

Trial try_part(const Question& question, const Plan& kept, const Part& part, double factor,
               std::span<const double> others) {
  const Topology changed = improved(question.topology, part.knobs, factor);
  const Plan plan = question.plan_on(changed);
  Trial trial{evaluation_of(simulated(plan, changed)), evaluation_of(simulated(kept, changed)),
              simulator_of(question.topology)->execute(plan).makespan().value,
              changed_routes(kept, plan, question.topology, changed)};
  for (const double other : others) {
    const Topology there = improved(question.topology, part.knobs, other);
    trial.elsewhere.push_back({other, evaluation_of(simulated(plan, there))});
  }
  return trial;
}

double least_factor(double below, double above, const std::function<bool(double)>& holds) {
  constexpr double precise = 1.0 / 16, least = 1.0 / 8, most = 4096;
  if (below == 0) {
    if (holds(least)) return 0;
    below = least;
  }
  if (!std::isfinite(above))
    for (double factor = 2 * below; !holds(above = factor); factor *= 2) {
      if (factor >= most) return without_limit;
      below = factor;
    }
  double low = std::log2(below), high = std::log2(above);
  while (high - low > precise) {
    const double middle = (low + high) / 2;
    (holds(std::exp2(middle)) ? high : low) = middle;
  }
  return std::exp2(high);
}

void to_json(nlohmann::ordered_json& json, const ChangedRoute& route) {
  json = {{"from", route.from}, {"to", route.to}, {"before", route.before}, {"after", route.after}};
}

void from_json(const nlohmann::ordered_json& json, ChangedRoute& route) {
  json.at("from").get_to(route.from), json.at("to").get_to(route.to);
  json.at("before").get_to(route.before), json.at("after").get_to(route.after);
}

// JSON has no infinity
void to_json(nlohmann::ordered_json& json, const Elsewhere& elsewhere) {
  json = {{"factor", nullptr}, {"evaluation", elsewhere.evaluation}};
  if (std::isfinite(elsewhere.factor)) json["factor"] = elsewhere.factor;
}

void from_json(const nlohmann::ordered_json& json, Elsewhere& elsewhere) {
  elsewhere.factor = json.at("factor").is_null() ? without_limit : json.at("factor").get<double>();
  json.at("evaluation").get_to(elsewhere.evaluation);
}

void to_json(nlohmann::ordered_json& json, const Trial& trial) {
  json = {{"planned", trial.planned},
          {"kept", trial.kept},
          {"taken_back_s", trial.taken_back},
          {"routes", trial.routes},
          {"elsewhere", trial.elsewhere}};
}

void from_json(const nlohmann::ordered_json& json, Trial& trial) {
  json.at("planned").get_to(trial.planned), json.at("kept").get_to(trial.kept);
  json.at("taken_back_s").get_to(trial.taken_back), json.at("routes").get_to(trial.routes);
  json.at("elsewhere").get_to(trial.elsewhere);
}

}  // namespace tilerail::study
