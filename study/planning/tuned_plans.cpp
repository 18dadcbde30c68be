#include "study/planning/tuned_plans.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "model/base/text.hpp"
#include "model/base/units_text.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/decided_plan.hpp"

namespace tilerail::study {
namespace {

std::string evaluation_of(const TunedPlan& tuned) {
  return fmt::format(
      "{} by {}, the fastest of {}", seconds_text(tuned.seconds),
      tuned.evaluator == Evaluator::simulator ? "the simulator" : "measurement",
      tuned.tried);
}

}  // namespace

TunedPlans::TunedPlans(const std::string& file, const Topology& machine) {
  const char* const named = std::getenv(plan_cache_variable);
  const bool asked = !file.empty();
  if (!asked && (named == nullptr || *named == '\0')) return;
  const std::string path = asked ? file : named;
  name_ = fmt::format("plan cache {}", in_quotes(path));
  try {
    cache_ = load_plan_cache(path);
  } catch (const InputError& error) {
    throw asked ? error.within("plan-cache") : error.at(plan_cache_variable);
  }
  const CacheOwner owner = owner_of(machine);
  if (asked) require_owner(*cache_, owner);
  is_for_this_machine_ = cache_->owner == owner;
}

TunedPlans::Answer TunedPlans::find(const GemmProblem& problem, const Topology& machine,
                                    std::span<const MemoryId> devices,
                                    const Policy& policy) const {
  if (!cache_) return {};
  if (!is_for_this_machine_)
    return {{},
            fmt::format("{} is not used: it is for machine '{}'", name_,
                        cache_->owner.machine)};
  const auto known = cache_->plans.find(key_of(problem, machine, devices, policy));
  if (known == cache_->plans.end())
    return {{},
            fmt::format("{} has no plan of this problem on these GPUs by this policy",
                        name_)};
  const auto& [key, tuned] = *known;
  try {
    Plan plan = plan_decided(problem, machine, devices, policy, tuned.decisions);
    if (tuned_hash(plan) == tuned.plan_hash)
      return answer(std::move(plan), tuned, machine);
  } catch (const InputError& error) {
    if (tuned.version == program_version())
      throw error.at(fmt::format("{}: {}", cache_->places.at(key), text_of(key)));
  }
  return {{},
          fmt::format("{}: its plan of version {} is not used, because it is made "
                      "differently now; tune again",
                      name_, tuned.version)};
}

TunedPlans::Answer TunedPlans::answer(Plan plan, const TunedPlan& tuned,
                                      const Topology& machine) const {
  Answer answer{std::move(plan), fmt::format("{}: {}, found by version {}", name_,
                                             evaluation_of(tuned), tuned.version)};
  PlanOrigin& origin = answer.plan->origin;
  origin.evaluator = tuned.evaluator, origin.why = answer.note;
  origin.candidates = {{fmt::format("tile={} gpus={}", answer.plan->tile,
                                    gpus_text(machine, answer.plan->devices)),
                        tuned.seconds, tuned.evaluator}};
  return answer;
}

void note_origin(Plan& plan, const std::string& note) {
  if (!note.empty()) plan.origin.why += (plan.origin.why.empty() ? "" : "; ") + note;
}

}  // namespace tilerail::study
