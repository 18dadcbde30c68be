#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/kernels/energy.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/choices.hpp"
#include "sched/policy/grid.hpp"
#include "sched/policy/policy.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// What is decided for one problem on one machine. docs/model.md#decisions
struct Decisions {
  std::vector<MemoryId> devices;
  std::vector<double> shares;  // of C, that devices compute; one a device
  Grid grid;
  Choices choices;  // with nothing left open
};

/// Throws the InputError of a field that asks for a metric of energy on a machine that
/// does not know the watts.
[[noreturn]] void refuse_without_watts(std::string_view field, const Metric& metric,
                                       const Topology& topology);

/// Whether all devices have the same kernel times.
bool equally_fast(const Question& question);

/// Whether no matrix is on a GPU, but for copies that each has.
bool homes_on_hosts(const GemmProblem& problem, const Topology& topology);

/// Whether peer-copies=staged-home can stage anything: a matrix is on a GPU, and some
/// GPUs have no links of their own.
bool stages_homes(const GemmProblem& problem, const Topology& topology);

/// The only place where a policy becomes decisions, for a candidate plan with that tile
/// and grid.
Decisions decide(const Question& question, int64_t tile, Grid grid);

/// What becomes of a tile after its use, as the decision "tiles" has it.
constexpr std::string_view tiles_fit = "all fit", tiles_evicted = "evicted",
                           tiles_in_cubes = "cubes", tiles_not_kept = "not kept";

/// The wishes of a plan that relays: tiles go over other GPUs where that is faster, and
/// everything that would work against it is set to what goes with it, unless the user
/// overrode it. Source: PARALiA (thesis 3.2).
Policy with_relays(Policy policy);

/// As the plan file has them: key and value, in the order of the policy's fields.
std::vector<PlanDecision> to_text(const Decisions& decisions, const Topology& topology);

}  // namespace tilerail
