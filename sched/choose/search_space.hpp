#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// Sets of GPUs and tiles of a search with simulation. Its strategies:
/// sched/choose/strategies.hpp. docs/model.md#evaluator

/// All devices first; then smaller sets, if the policy leaves the devices open.
DeviceSets sets_for(const Question& question);

/// Candidate tiles on the devices, ascending. `start`: the first plan of the search.
std::vector<int64_t> tiles_for(const Question& question, const Plan& start);

/// Whether the policy leaves staging of copies between GPUs open, and a host may speed up
/// a copy between two of the GPUs, or between one of them and the home GPU of a matrix.
/// False for very many GPUs: there are too many pairs.
bool staging_may_help(const Question& question);

}  // namespace tilerail
