#pragma once

#include <span>
#include <string>

#include "model/base/infeasible_error.hpp"
#include "plan/plan.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// If the policy leaves staging of copies between GPUs open: compare both kinds, or take
/// the policy's value.
enum class Copies : bool { any, by_policy };

/// The plan with the least estimated makespan over the tile sizes and numbers of GPUs
/// that the policy leaves open. Shares apply to plans on all devices only.
/// docs/model.md#tile
Plan estimated_plan(const Question& question, Copies copies = Copies::any);

/// The estimated plan without simulation, with a route for each of its copies.
Feasible<Plan> estimated_candidate(const Question& question, Copies copies = Copies::any);

/// The estimated plan or, if the question is simulated, the best simulated plan.
/// docs/model.md#evaluator
Plan search_plan(const Question& question, const PlanSimulator& simulator);

/// Names of GPUs for candidates, "gpu0,gpu3"; for more than 16 GPUs their number.
std::string gpus_text(const Topology& topology, std::span<const MemoryId> gpus);

/// The policy's tile without a search: given, by an overlap model, by a library's rule
/// (the first tile if the library times several), else by the thesis' heuristic.
int64_t unsearched_tile(const Question& question);

}  // namespace tilerail
