#pragma once

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The plan on the devices with the best metric `policy.select`: that of the emulation, or else the best judged plan of
/// those on all devices and on the best workloads' by PARALiA's model, as many as `select_ms` pays for: at least all
/// devices and one more.
/// There has to be something to multiply. Throws InputError when the metric needs watts that the machine does not have.
/// docs/model.md#selection
Plan selected_plan(const Question& question, const Judge& judge);

}  // namespace tilerail
