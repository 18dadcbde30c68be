#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "model/base/error.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"
#include "study/planning/plan_cache.hpp"

namespace tilerail::study {

/// The environment variable with the default plan cache.
inline constexpr const char* plan_cache_variable = "TILERAIL_PLAN_CACHE";

/// Plans from a plan cache, rebuilt without a search.
class TunedPlans {
 public:
  TunedPlans() = default;  // an empty cache
  /// From `file` or, if empty, from the cache in the environment, if set. Throws
  /// InputError if the file cannot be read, or if `file` belongs to another machine. A
  /// cache from the environment that belongs to another machine is ignored, and the
  /// plans' reasons say so.
  TunedPlans(const std::string& file, const Topology& machine);

  /// The tuned plan of exactly this problem, these GPUs and this policy, else the plan
  /// that `other` makes. Adds the result of the cache to its reasons. The machine is the
  /// constructor's. Throws InputError with the file if the plan's decisions do not fit
  /// machine or problem.
  Plan plan(const GemmProblem& problem, const Topology& machine,
            std::span<const MemoryId> devices, const Policy& policy,
            const std::function<Plan()>& other) const;

 private:
  std::optional<PlanCache> cache_;
  bool is_for_this_machine_ = false;
};

}  // namespace tilerail::study
