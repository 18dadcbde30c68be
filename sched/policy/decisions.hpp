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

/// The decisions for one problem on one machine. docs/model.md#decisions
struct Decisions {
  std::vector<MemoryId> devices;
  std::vector<double> shares;  // of C, one per device
  Grid grid;
  Choices choices;  // nothing left open
};

/// Throws the InfeasibleError of a field with an energy metric on a machine without
/// watts.
[[noreturn]] void refuse_without_watts(std::string_view field, const Metric& metric,
                                       const Topology& topology);

/// Whether all devices have the same kernel times.
bool equally_fast(const Question& question);

/// Whether no matrix is on a GPU, apart from replicas on every GPU.
bool homes_on_hosts(const GemmProblem& problem, const Topology& topology);

/// Whether peer-copies=staged-home has an effect: a matrix is on a GPU, and some GPUs
/// have no links of their own.
bool stages_homes(const GemmProblem& problem, const Topology& topology);

/// Turns a policy into decisions, for a candidate plan with this tile and grid. No other
/// code does.
Decisions decide(const Question& question, int64_t tile, Grid grid);

/// Values of the decision "tiles": what happens to tiles after their use.
constexpr std::string_view tiles_fit = "all fit", tiles_evicted = "evicted",
                           tiles_not_kept = "not kept";

/// The policy with routes over other GPUs: tiles arrive out of order, so copies do not
/// wait for each other. Overridden fields stay. Source: PARALiA (thesis 3.2).
Policy with_relays(Policy policy);
/// Keys and values as in the plan file, in the order of the policy's fields.
std::vector<PlanDecision> to_text(const Decisions& decisions, const Topology& topology);

}  // namespace tilerail
