#include "study/predict/prediction.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"
#include "model/published/library_workload.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::study {
namespace {

/// PARALiA's policy with the tile and the fields of the text, without selection:
/// predict_workload selects.
Policy paralia(PolicyText policy) {
  policy.name = workload_model;
  Policy resolved = policy.resolve();
  resolved.select = nullptr, resolved.device_choice = DeviceChoice::all;
  return resolved;
}

struct Predictor {
  const JobText& text;
  const Topology& topology;
  const GemmProblem& problem;
  std::span<const MemoryId> devices;
  Policy policy = paralia(text.policy);
  PlanSimulator simulator = plan_simulator(topology);
  Resources resources{topology};
  LinkMap map{topology};
  WorkloadProblem workload = workload_problem(question());

  WorkloadPrediction predict() const {
    std::vector<DevicePrediction> choices{of_workload("all", of_all_devices())};
    for (const Metric& metric : metrics)
      if (!metric.needs_energy || has_watts())
        choices.push_back(of_workload(
            metric.name, deal_by_metric(ranked_workloads(workload, map, metric).front(),
                                        metric, workload)));
    const Plan plan =
        plan_gemm(problem, topology, devices, text.policy.resolve(), simulator);
    choices.push_back(simulated({"policy", plan.devices}, plan));
    return {unsearched_tile(question()), has_watts(), std::move(choices)};
  }

  /// A product is its own workload. Other routines are not predicted.
  Question question() const {
    return {problem, problem, topology, resources, devices, policy};
  }

  bool has_watts() const { return !workload.watts.empty(); }

  Workload of_all_devices() const {
    std::vector<size_t> all(devices.size());
    std::iota(all.begin(), all.end(), 0);
    Workload whole = WorkloadModel{workload, map}.predict(all);
    if (!std::isfinite(whole.time.value)) missing_link();
    return whole;
  }

  /// Throws InputError for devices without links to the operands' memories or to each
  /// other.
  [[noreturn]] void missing_link() const {
    std::vector<MemoryId> ends = homes_of(problem);
    ends.insert(ends.end(), devices.begin(), devices.end());
    std::string pair;
    for (const MemoryId device : devices)
      for (const MemoryId end : ends)
        for (const auto& [src, dst] : {std::pair{end, device}, std::pair{device, end}})
          if (pair.empty() && src != dst && !map.has({src, dst}))
            pair = fmt::format("'{}' to '{}'", topology.memory(src).name,
                               topology.memory(dst).name);
    throw fault_of("devices", fmt::format("the machine has no link from {}", pair),
                   "devices with links to all operands and to each other");
  }

  DevicePrediction of_workload(std::string_view choice, const Workload& best) const {
    DevicePrediction made{choice, best.devices(devices), best.shares, best.time.value};
    if (has_watts()) made.predicted_j = best.energy.value;
    const Plan plan = estimated_plan(question().on(made.devices, best.shares));
    return simulated(std::move(made), plan);
  }

  DevicePrediction simulated(DevicePrediction made, const Plan& plan) const {
    made.tile = plan.tile;
    const PlanCost cost = simulator.of(plan);
    made.simulated_s = cost.makespan.value;
    if (cost.energy) made.simulated_j = cost.energy->value;
    return made;
  }
};

}  // namespace

WorkloadPrediction predict_workload(const JobText& text, const Topology& topology,
                                    const GemmProblem& problem,
                                    std::span<const MemoryId> devices) {
  return Predictor{text, topology, problem, devices}.predict();
}

}  // namespace tilerail::study
