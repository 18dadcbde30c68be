#include "study/planning/tuned_plans.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "sched/choose/tile_search.hpp"
#include "sched/decided_plan.hpp"

namespace tilerail::study {

TunedPlans::TunedPlans(const std::string& file, const Topology& machine) {
  const char* const named = std::getenv(plan_cache_variable);
  const bool asked = !file.empty();
  if (!asked && (named == nullptr || *named == '\0')) return;
  const std::string path = asked ? file : named;
  try {
    cache_ = load_plan_cache(path);
  } catch (const InputError& error) {
    throw asked ? error.within("plan-cache") : error.at(plan_cache_variable);
  }
  const CacheOwner owner = owner_of(machine);
  if (asked) require_owner(*cache_, owner);
  is_for_this_machine_ = cache_->owner == owner;
}

Plan TunedPlans::plan(const GemmProblem& problem, const Topology& machine,
                      std::span<const MemoryId> devices, const Policy& policy,
                      const std::function<Plan()>& other) const {
  if (!cache_) return other();
  const std::string& file = cache_->file;
  const auto without = [&](PlanReason::Kind kind, const std::string& owner) {
    Plan plan = other();
    plan.origin.reasons.push_back({.kind = kind, .name = file, .owner = owner});
    return plan;
  };
  if (!is_for_this_machine_)
    return without(PlanReason::other_machine, cache_->owner.machine);
  const auto known = cache_->plans.find(key_of(problem, machine, devices, policy));
  if (known == cache_->plans.end()) return without(PlanReason::not_tuned, "");
  const auto& [key, tuned] = *known;
  try {
    Plan plan = plan_decided(problem, machine, devices, policy, tuned.decisions);
    if (tuned_hash(plan) == tuned.plan_hash) {
      plan.origin.evaluator = tuned.evaluator;
      plan.origin.candidates = {
          {fmt::format("tile={} gpus={}", plan.tile, gpus_text(machine, plan.devices)),
           tuned.seconds, tuned.evaluator}};
      plan.origin.reasons = {
          {PlanReason::tuned, 0, size_t(tuned.tried), 0, file, tuned.version}};
      return plan;
    }
  } catch (const InputError& error) {
    if (tuned.version == program_version())
      throw error.at(fmt::format("{}: {}", cache_->places.at(key), text_of(key)));
  }
  return without(PlanReason::outdated, tuned.version);
}

}  // namespace tilerail::study
