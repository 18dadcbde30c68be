#include "sched/choose/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/published/workload.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/emulation.hpp"

namespace tilerail {
namespace {

class Selection {
 public:
  Selection(const Question& question, const PlanSimulator& simulator)
      : policy_{question.policy},
        question_{question.by(policy_)},
        topology_{question.topology},
        devices_{question.devices},
        simulator_{simulator} {
    policy_.select = nullptr, policy_.device_choice = DeviceChoice::all;
  }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  Plan plan(const Metric& metric) const {
    if (auto chosen = emulation_of(policy_.choices).selected_plan(question_, metric))
      return *std::move(chosen);

    BestPlan found;
    std::vector<PlanCandidate> tried;
    double left = 1e-3 * policy_.select_ms - consider(question_, metric, found, tried);
    bool first = true;
    for (const Workload& workload : other_workloads(metric)) {
      if (workload.active.size() == devices_.size()) continue;
      if (!std::exchange(first, false) && left <= 0) break;
      const std::vector<MemoryId> gpus = workload.devices(devices_);
      left -= consider(question_.on(gpus), metric, found, tried);
    }
    if (!found.plan) throw InfeasibleError{*found.refused};
    Plan& best = *found.plan;
    if (question_.simulated) improve(best, found.value, metric, tried);
    best.origin.reasons.push_back({.kind = PlanReason::best_set,
                                   .count = tried.size(),
                                   .name = std::string{metric.name}});
    best.origin.evaluator = evaluator();
    std::ranges::move(tried, std::back_inserter(best.origin.candidates));
    return best;
  }

 private:
  struct BestPlan {
    std::optional<Plan> plan;
    double value = 0;
    std::optional<InfeasibleError> refused;  // error of the last set without a plan
  };

  /// Evaluates a plan on these devices. Devices without a valid plan, for lack of a route
  /// or of memory, are not candidates. Returns the cost of the evaluation.
  double consider(const Question& question, const Metric& metric, BestPlan& best,
                  std::vector<PlanCandidate>& tried) const {
    auto [plan, error] = feasible([&] { return estimated_plan(question.estimated()); });
    if (!plan) return best.refused = error, 0;
    const double spent = cost(*plan), value = value_of(*plan, metric, tried);
    if (!best.plan || value > best.value) best.plan = std::move(plan), best.value = value;
    return spent;
  }

  /// Searches all options on the devices of the best plan and on all devices.
  void improve(Plan& best, double most, const Metric& metric,
               std::vector<PlanCandidate>& tried) const {
    std::vector<std::vector<MemoryId>> sets{best.devices};
    if (best.devices.size() < devices_.size())
      sets.emplace_back(devices_.begin(), devices_.end());
    for (const std::vector<MemoryId>& set : sets) {
      auto plan =
          feasible([&] { return search_plan(question_.on(set), simulator_); }).result;
      if (!plan) continue;
      const double value = value_of(*plan, metric, tried);
      if (value > most) best = *std::move(plan), most = value;
    }
  }

  WorkloadProblem problem(const Metric& metric) const {
    WorkloadProblem workload = workload_problem(question_);
    if (workload.watts.empty() && metric.needs_energy)
      refuse_without_watts("devices", metric, topology_);
    return workload;
  }

  /// Empty if no links connect the GPUs with the matrices: the model does not cover
  /// staged copies.
  std::vector<Workload> other_workloads(const Metric& metric) const {
    const WorkloadProblem workload = problem(metric);
    const LinkMap links{topology_};
    return feasible([&] { return ranked_workloads(workload, links, metric); })
        .result.value_or(std::vector<Workload>{});
  }

  double value_of(const Plan& plan, const Metric& metric,
                  std::vector<PlanCandidate>& tried) const {
    const PlanCost evaluated = simulator_.of ? simulator_.of(plan) : estimated(plan);
    tried.push_back(
        {fmt::format("tile={} gpus={}", plan.tile, gpus_text(topology_, plan.devices)),
         evaluated.makespan.value, evaluator()});
    if (metric.needs_energy && !evaluated.energy)
      refuse_without_watts("devices", metric, topology_);
    return metric.of({question_.problem.flops(), evaluated.makespan,
                      evaluated.energy.value_or(Joules{1})});
  }

  Evaluator evaluator() const {
    return simulator_.of ? Evaluator::simulator : Evaluator::estimate;
  }

  PlanCost estimated(const Plan& plan) const {
    const Estimate estimate = estimate_plan(plan, topology_, question_.resources);
    return {estimate.makespan, estimate.energy};
  }

  /// Seconds for a plan, including the search for its tile: fixed rates instead of a
  /// measurement, so that the rest of select_ms is the same in every process.
  /// Approximates `bench_plan_speed`. docs/model.md#selection
  double cost(const Plan& plan) const {
    constexpr double of_plan = 2e-3, of_op = 4e-6;
    return of_plan + (of_op + simulator_.per_op.value) * double(plan.ops.size());
  }

  Policy policy_;            // of the evaluated plans
  const Question question_;  // with this policy
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  const PlanSimulator& simulator_;
};

}  // namespace

Plan selected_plan(const Question& question, const PlanSimulator& simulator) {
  return Selection{question, simulator}.plan(*question.policy.select);
}

}  // namespace tilerail
