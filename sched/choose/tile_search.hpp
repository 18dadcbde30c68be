#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/base/infeasible_error.hpp"
#include "plan/plan.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

struct EstimatedPlan {
  Plan plan;
  PlanCandidate candidate = {};  // with the estimated makespan
  double busiest = 0;            // estimated, in seconds
  std::vector<PlanCandidate> tried = {};

  /// Whether it replaces `best`, the best plan before it: it must be 1 % faster, since
  /// estimates are not more accurate.
  bool beats(const EstimatedPlan& best) const;
};

/// The plan on all devices with the least estimated makespan over the tile sizes that the
/// policy leaves open, and over relays and a split of k if it leaves these open. Each of
/// its copies has a route. docs/model.md#tile
Feasible<EstimatedPlan> best_estimated(const Question& question);

/// Names of GPUs for candidates, "gpu0,gpu3"; for more than 16 GPUs their number.
std::string gpus_text(const Topology& topology, std::span<const MemoryId> gpus);

/// The policy's tile without a search: given, by an overlap model, by a library's rule
/// (the first tile if the library times several), else by the thesis' heuristic.
int64_t unsearched_tile(const Question& question);

}  // namespace tilerail
