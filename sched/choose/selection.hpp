#pragma once

#include "plan/plan.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The plan with the best metric `policy.select`. An emulation may have its own rule.
/// Otherwise plans are compared on all devices and on the best sets of devices by
/// PARALiA's model, as many as `select_ms` allows, but at least one set in addition to
/// all devices. The problem must multiply something. Throws InputError if the metric
/// needs watts that the machine does not have. docs/model.md#selection
Plan selected_plan(const Question& question, const PlanSimulator& simulator);

}  // namespace tilerail
