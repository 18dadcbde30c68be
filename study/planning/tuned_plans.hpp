#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/base/error.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"
#include "study/planning/plan_cache.hpp"

namespace tilerail::study {

/// The environment variable that names a plan cache where no option does.
inline constexpr const char* plan_cache_variable = "TILERAIL_PLAN_CACHE";

/// Plans by what was tuned before, made again without a search.
class TunedPlans {
 public:
  TunedPlans() = default;  // none
  /// From `file` or, where that is empty, from the one that the environment names, if it
  /// does. Throws InputError where it cannot be read. A file of another machine is
  /// refused where it was asked for by name; where the environment names it, its plans
  /// are not used, and answers say so.
  TunedPlans(const std::string& file, const Topology& machine);

  struct Answer {
    std::optional<Plan> plan = {};
    std::string note = {};  // a sentence: what the plan comes from, or why there is none;
                            // "" without a cache
  };
  /// The plan of this very problem on these GPUs by this policy. Throws InputError naming
  /// the file if its decisions fit neither machine nor problem. The machine is that of
  /// the constructor.
  Answer find(const GemmProblem& problem, const Topology& machine,
              std::span<const MemoryId> devices, const Policy& policy) const;

 private:
  Answer answer(Plan plan, const TunedPlan& tuned, const Topology& machine) const;

  std::string name_;  // of the cache, in notes
  std::optional<PlanCache> cache_;
  bool is_for_this_machine_ = false;
};

/// Says in the plan's origin why it does not come from the cache. Nothing where the note
/// is empty.
void note_origin(Plan& plan, const std::string& note);

}  // namespace tilerail::study
