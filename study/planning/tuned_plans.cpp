#include "study/planning/tuned_plans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/base/units_text.hpp"
#include "sched/choose/search.hpp"
#include "sched/decided_plan.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail::study {
namespace {

std::string judged_by(const TunedPlan& tuned) {
  return fmt::format("{} by {}, the fastest of {}", seconds_text(tuned.seconds),
                     tuned.judge == TunedBy::simulator ? "the simulator" : "measurement", tuned.tried);
}

/// The same problem is known for other GPUs or policies; what for, at most a few.
std::string others_of(const PlanCache& cache, const PlanKey& key) {
  constexpr size_t most = 3;
  std::vector<std::string> policies;
  bool other_devices = false;
  for (const auto& [known, _] : cache.plans) {
    PlanKey same = known;
    same.policy = key.policy, same.devices = key.devices;
    if (same != key) continue;
    if (known.devices != key.devices)
      other_devices = true;
    else if (policies.size() < most)
      policies.push_back(in_quotes(known.policy));
  }
  if (!policies.empty()) return fmt::format(" by policy {}, but by {}", key.policy, fmt::join(policies, ", "));
  return other_devices ? " on these GPUs, but on others" : "";
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
    throw asked ? error.about("plan-cache") : error.at(plan_cache_variable);
  }
  const CacheOwner owner = owner_of(machine);
  if (asked) require_owner(*cache_, owner);
  if (cache_->owner != owner) {
    unusable_ = fmt::format("it is for machine '{}' of hash {}, and this one is another", cache_->owner.machine,
                            cache_->owner.hash);
    cache_.reset();
  }
}

TunedPlans::Answer TunedPlans::find(const GemmProblem& problem, const Topology& machine,
                                    std::span<const MemoryId> devices, const Policy& policy) const {
  if (!any()) return {};
  if (!cache_) return {{}, fmt::format("{} is not used: {}", name_, unusable_)};
  const PlanKey key = key_of(problem, machine, devices, name_of(policy));
  auto known = cache_->plans.find(key);
  const bool by_this_policy = known != cache_->plans.end();
  if (!by_this_policy) {
    PlanKey plain = key;
    plain.policy = policy.preset;
    known = cache_->plans.find(plain);
  }
  if (known == cache_->plans.end())
    return {{}, fmt::format("{} has no plan of this problem{}", name_, others_of(*cache_, key))};
  try {
    std::vector<std::string> conflicts;
    if (!by_this_policy) conflicts = conflicts_with(known->second.decisions, problem, machine, devices, policy);
    if (!conflicts.empty())
      return {{}, fmt::format("{}: its plan is not used, since the policy has {}", name_, fmt::join(conflicts, ", "))};
    return rebuilt(known->first, known->second, problem, machine, devices, policy);
  } catch (const InputError& error) {
    if (known->second.version != program_version())
      return {{},
              fmt::format("{}: its plan is not used, since version {} found it and this one cannot make it ({}); tune "
                          "again",
                          name_, known->second.version, error.what())};
    throw error.at(fmt::format("{}: {}", place_of(known->first, error), text_of(known->first)));
  }
}

/// Of the decision that the error is about, or else of the plan.
const std::string& TunedPlans::place_of(const PlanKey& key, const InputError& error) const {
  const auto& places = cache_->places.at(key);
  const auto decision = places.find(error.subject);
  return decision == places.end() ? places.at("") : decision->second;
}

TunedPlans::Answer TunedPlans::rebuilt(const PlanKey& key, const TunedPlan& tuned, const GemmProblem& problem,
                                       const Topology& machine, std::span<const MemoryId> devices,
                                       const Policy& policy) const {
  Plan plan = plan_decided(problem, machine, devices, policy, tuned.decisions);
  if (tuned_hash(plan) != tuned.plan_hash && tuned.version == program_version())
    return {
        {},
        fmt::format("{}: its plan is not used, since {}: the decisions make another one than that of plan_hash, and "
                    "somebody, or another build, has changed them; tune again",
                    name_, cache_->places.at(key).at(""))};
  if (tuned_hash(plan) != tuned.plan_hash)
    return {
        {},
        fmt::format("{}: its plan is not used, since version {} found it and this one would make another of it; tune "
                    "again",
                    name_, tuned.version)};
  Answer answer{std::move(plan), fmt::format("{}: {}, found by version {}", name_, judged_by(tuned), tuned.version)};
  PlanOrigin& origin = answer.plan->origin;
  origin.judge = to_string(tuned.judge), origin.why = answer.note;
  origin.candidates = {{fmt::format("tile={} gpus={}", answer.plan->tile, gpus_text(machine, answer.plan->devices)),
                        tuned.seconds, origin.judge}};
  return answer;
}

void note_origin(Plan& plan, const std::string& note) {
  if (!note.empty()) plan.origin.why += (plan.origin.why.empty() ? "" : "; ") + note;
}

}  // namespace tilerail::study
