#pragma once

#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// If the policy leaves open whether copies between GPUs are staged: both kinds are
/// compared, or the policy's value is taken.
enum class Copies : bool { any, as_wished };

/// The plan with the least estimated makespan among those with the tile sizes and numbers
/// of GPUs that the policy leaves open; shares count for all devices only.
/// docs/model.md#tile
Plan estimated_plan(const Question& question, Copies copies = Copies::any);

/// The same or, where the question is judged, the best judged plan. docs/model.md#judge
Plan search_plan(const Question& question, const Judge& judge);

/// The names of GPUs as candidates have them, "gpu0,gpu3"; of more than 16 their number.
std::string gpus_text(const Topology& topology, std::span<const MemoryId> gpus);

/// The tile that the policy takes without a search: given, by an overlap model, by the
/// rule of a library (the first, of several that it times), else by the thesis'
/// heuristic.
int64_t unsearched_tile(const Question& question);

}  // namespace tilerail
