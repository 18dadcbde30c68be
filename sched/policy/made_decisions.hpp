#pragma once

#include <cstdint>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/decisions.hpp"

namespace tilerail {

/// Decisions as texts, as `to_text` writes them, but with all digits of shares, so that
/// reading restores the same decisions.
std::vector<PlanDecision> exact_text(const Decisions& decisions,
                                     const Topology& topology);

/// The devices and the tile, which are mandatory and determine the others. Throw
/// InputError.
std::vector<MemoryId> made_devices(const std::vector<PlanDecision>& text,
                                   const Topology& topology);
int64_t made_tile(const std::vector<PlanDecision>& text);

/// `decisions` updated with `text`, from a plan's origin or `exact_text`. Throws
/// InputError "KEY 'VALUE': expected ..." for a text that is not a decision, or does not
/// fit the machine or the other decisions.
Decisions with_made(Decisions decisions, const std::vector<PlanDecision>& text,
                    const Topology& topology);

}  // namespace tilerail
