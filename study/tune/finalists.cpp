#include "study/tune/finalists.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "sched/decided_plan.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/judge.hpp"

namespace tilerail::study {
namespace {

bool has_metric(const TuneTask& task) { return task.policy.select && task.problem.has_product(); }

/// By the metric that the policy selects by.
double value_of(const TuneTask& task, const Judgement& judged) {
  if (!has_metric(task) || judged.makespan.value <= 0) return -judged.makespan.value;
  return task.policy.select->of({task.problem.flops(), judged.makespan, judged.energy.value_or(Joules{1})});
}

void rate(Finalist& finalist, const TuneTask& task, const Judgement& judged) {
  finalist.value = value_of(task, judged);
  finalist.tuned.seconds = judged.makespan.value;
  if (has_metric(task)) finalist.tuned.metric = finalist.value;
}

/// The preset with all left open that may be searched, and what the task's policy overrides.
Policy searching(const std::string& name, const TuneTask& task, int64_t budget) {
  Policy policy = name == task.policy.preset ? task.policy : without_emulation(any_preset(name));
  if (name != task.policy.preset) {
    policy.device_choice = DeviceChoice::search, policy.tile_choice = TileChoice::search;
    policy.select_ms = task.policy.select_ms;
    for (const auto& [key, value, _] : task.policy.overridden) apply_override(policy, fmt::format("{}={}", key, value));
  }
  policy.ways = Ways::search, policy.judge_ops = budget;
  return policy;
}

Plan planned(const TuneTask& task, const Topology& machine, const Policy& policy) {
  return plan_gemm(task.problem, machine, task.devices, policy, judge_of(machine));
}

/// Judged is the plan that will be made again, whatever the search has judged.
Finalist finalist(const Plan& plan, const Policy& policy, const TuneTask& task, const Topology& machine) {
  Finalist result;
  result.tuned.decisions = decisions_of(plan, machine, policy);
  Plan again = plan_decided(task.problem, machine, task.devices, task.policy, result.tuned.decisions);
  const Judgement judged = judge_of(machine).of(again);
  rate(result, task, judged);
  result.tuned.preset = policy.preset, result.tuned.plan_hash = tuned_hash(again);
  return result;
}

}  // namespace

std::vector<std::string> presets_for(const Policy& asked) {
  std::vector<std::string> names{asked.preset};
  if (any_preset(asked.preset).ways == Ways::search)
    for (const std::string& name : any_preset_names())
      if (name != asked.preset) names.push_back(name);
  return names;
}

Finding found_by(const std::string& name, const TuneTask& task, const Topology& machine, const TuneSettings& settings) {
  Finding finding;
  int64_t tried = 0;
  const auto consider = [&](const Policy& policy) {
    const Plan plan = planned(task, machine, policy);
    tried += std::max<int64_t>(1, int64_t(plan.origin.candidates.size()));
    Finalist found = finalist(plan, policy, task, machine);
    const double seconds = found.tuned.seconds;
    if (!finding.best || found.value > finding.best->value) finding.best = std::move(found);
    return seconds;
  };
  if (name == task.policy.preset) {
    Policy estimating = task.policy;
    estimating.judge_ops = 0;
    finding.estimated_s = consider(estimating);
    finding.planned_s = consider(task.policy);
  }
  try {
    consider(searching(name, task, settings.budget));
  } catch (const InputError&) {  // of a preset that cannot plan this problem: the others may
  }
  if (!finding.best) return finding;
  finding.best->tuned.tried = tried;
  finding.best->tuned.budget = settings.budget, finding.best->tuned.version = settings.version;
  return finding;
}

std::optional<Finalist> known_finalist(const TunedPlan& known, const TuneTask& task, const Topology& machine) try {
  Plan plan = plan_decided(task.problem, machine, task.devices, task.policy, known.decisions);
  if (tuned_hash(plan) != known.plan_hash) return std::nullopt;
  const Judgement judged = judge_of(machine).of(plan);
  Finalist result{known};
  rate(result, task, judged);
  result.tuned.judge = TunedBy::simulator;
  return result;
} catch (const InputError&) {  // of decisions that somebody wrote
  return std::nullopt;
}

void measure(std::vector<Finalist>& finalists, const TuneTask& task, const Topology& machine,
             const TuneSettings& settings) {
  std::vector<Plan> plans;
  for (const Finalist& each : finalists)
    plans.push_back(plan_decided(task.problem, machine, task.devices, task.policy, each.tuned.decisions));
  std::vector<const Plan*> all;
  for (const Plan& plan : plans) all.push_back(&plan);
  Runner runner{settings.backend, machine, all, settings.run};
  for (const auto i : indices(plans)) {
    rate(finalists[i], task, {Seconds{runner.run(plans[i]).median()}, {}});
    finalists[i].tuned.judge = TunedBy::measurement;
  }
}

}  // namespace tilerail::study
