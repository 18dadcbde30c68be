#pragma once

#include "plan/plan.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The fastest simulated plan over the candidate sets of GPUs. The search on a set does
/// not depend on the other sets, so the chosen set has the same plan when only its GPUs
/// are given. If a plan on all devices has more operations than the search may simulate,
/// the best plan by the estimate. docs/model.md#evaluator
Plan plan_on_best_set(const Question& question, const PlanSimulator& simulator);

/// The plan with the best metric `policy.select`. An emulation may have its own rule.
/// Otherwise plans are compared on all devices and on the best sets of devices by
/// PARALiA's model, as many as `select_ms` allows, but at least one set in addition to
/// all devices. The problem must multiply something. Throws InputError if the metric
/// needs watts that the machine does not have. docs/model.md#selection
Plan selected_plan(const Question& question, const PlanSimulator& simulator);

}  // namespace tilerail
