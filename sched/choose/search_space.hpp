#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The sets of GPUs and the tiles of a judged search; its strategies:
/// sched/choose/strategies.hpp. docs/model.md#judge

/// All devices first, and fewer where the policy leaves that open.
DeviceSets sets_for(const Question& question);

/// Ascending: what is worth trying on the devices. `start` is the plan that the search
/// begins with.
std::vector<int64_t> tiles_for(const Question& question, const Plan& start);

/// Whether the policy leaves open if copies between GPUs are staged, and a copy between
/// two of the GPUs, or one of them and the GPU that is the home of a matrix, may be
/// faster over a host. Among very many GPUs none is looked for: their pairs are too many.
bool staging_may_help(const Question& question);

}  // namespace tilerail
