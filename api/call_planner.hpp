#pragma once

#include <functional>
#include <span>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/policy/policy.hpp"
#include "study/planning/tuned_plans.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::api {

struct PlannedCall {
  Plan plan;
  PlanInfo info;
};

/// Plans the problems of calls: from a plan cache, by the estimate, or as one kernel if
/// several GPUs would not be faster.
class CallPlanner {
 public:
  /// Keeps a reference to the topology.
  explicit CallPlanner(const Topology& topology);

  /// Throws InputError like plan_gemm.
  PlannedCall plan(const GemmProblem& problem, std::span<const MemoryId> devices,
                   const Policy& policy, const study::TunedPlans& tuned) const;

  /// Bytes available for tiles on a GPU with this many compute streams.
  using Room = std::function<int64_t(MemoryId gpu, int compute_streams)>;
  /// The same for GPUs with less memory than described: uses the available memory, and
  /// drops the GPUs with the least memory until a plan fits. Throws MemoryShortage, whose
  /// text contains the free memory.
  PlannedCall plan_within(const Room& room, const GemmProblem& problem,
                          std::span<const MemoryId> devices, const Policy& policy) const;

 private:
  const Topology& topology_;
  PlanSimulator simulator_;
};

}  // namespace tilerail::api
