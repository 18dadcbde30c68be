#include "study/predict/workload_prediction.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"
#include "model/kernels/energy.hpp"
#include "model/published/workload.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/judge.hpp"

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

class Predictor {
 public:
  Predictor(const PredictionText& text, const Topology& topology,
            const GemmProblem& problem, std::span<const MemoryId> devices)
      : text_{text},
        topology_{topology},
        problem_{problem},
        devices_{devices},
        policy_{paralia(text.policy)},
        judge_{judge_of(topology)},
        resources_{topology},
        map_{topology},
        workload_{workload_problem(question())} {}

  WorkloadPrediction predict() const {
    WorkloadPrediction prediction{unsearched_tile(question()), has_watts(), {}};
    prediction.choices.push_back(of_workload("all", of_all_devices()));
    for (const Metric& metric : metrics)
      if (!metric.needs_energy || has_watts())
        prediction.choices.push_back(of_workload(
            std::string{metric.name},
            ranked_workloads(workload_, map_, metric, library_selection).front()));
    const Plan plan =
        plan_gemm(problem_, topology_, devices_, text_.policy.resolve(), judge_);
    prediction.choices.push_back(simulated({"policy", plan.devices}, plan));
    return prediction;
  }

 private:
  /// A product is its own workload. Other routines are not predicted.
  Question question() const {
    return {problem_, problem_, topology_, resources_, devices_, policy_};
  }

  bool has_watts() const { return !workload_.watts.empty(); }

  Workload of_all_devices() const {
    std::vector<size_t> all(devices_.size());
    std::iota(all.begin(), all.end(), 0);
    Workload workload = WorkloadModel{workload_, map_}.predict(all);
    if (!std::isfinite(workload.time.value)) missing_link();
    return workload;
  }

  /// Throws InputError for devices without links to the operands' memories or to each
  /// other.
  [[noreturn]] void missing_link() const {
    std::vector<MemoryId> ends{problem_.place_a, problem_.place_b, problem_.place_c};
    std::erase_if(ends, [&](MemoryId end) { return topology_.has_copies(end); });
    ends.insert(ends.end(), devices_.begin(), devices_.end());
    std::string pair;
    for (const MemoryId device : devices_)
      for (const MemoryId end : ends)
        for (const auto& [src, dst] : {std::pair{end, device}, std::pair{device, end}})
          if (pair.empty() && src != dst && !map_.has({src, dst}))
            pair = fmt::format("'{}' to '{}'", topology_.memory(src).name,
                               topology_.memory(dst).name);
    throw fault_of("devices", fmt::format("the machine has no link from {}", pair),
                   "devices with links to all operands and to each other");
  }

  DevicePrediction of_workload(std::string choice, const Workload& workload) const {
    DevicePrediction made{std::move(choice), workload.devices(devices_), workload.shares,
                          workload.time.value};
    if (has_watts()) made.predicted_j = workload.energy.value;
    const Plan plan = estimated_plan(question().on(made.devices, made.shares));
    return simulated(std::move(made), plan);
  }

  DevicePrediction simulated(DevicePrediction made, const Plan& plan) const {
    made.tile = plan.tile;
    if (!judge_.of) return made;
    const Judgement judgement = judge_.of(plan);
    made.simulated_s = judgement.makespan.value;
    if (judgement.energy) made.simulated_j = judgement.energy->value;
    return made;
  }

  const PredictionText& text_;
  const Topology& topology_;
  const GemmProblem& problem_;
  std::span<const MemoryId> devices_;
  Policy policy_;
  Judge judge_;
  Resources resources_;
  LinkMap map_;
  WorkloadProblem workload_;
};

}  // namespace

WorkloadPrediction predict_workload(const PredictionText& text, const Topology& topology,
                                    const GemmProblem& problem,
                                    std::span<const MemoryId> devices) {
  return Predictor{text, topology, problem, devices}.predict();
}

}  // namespace tilerail::study
