#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/decisions.hpp"

namespace tilerail {

/// Decisions that were made before, as texts: what `to_text` writes, except that shares
/// have all their digits, so that reading gives the same decisions.
std::vector<PlanDecision> exact_text(const Decisions& decisions,
                                     const Topology& topology);

/// Two of them that the others follow from, and that have to be there. Throw InputError.
std::vector<MemoryId> made_devices(const std::vector<PlanDecision>& text,
                                   const Topology& topology);
int64_t made_tile(const std::vector<PlanDecision>& text);

/// `decisions` with those of `text`, which the origin of a plan may have or `exact_text`
/// has written. Throws InputError "KEY 'VALUE': expected ..." for what is no decision, or
/// does not fit the machine or the other decisions.
Decisions with_made(Decisions decisions, const std::vector<PlanDecision>& text,
                    const Topology& topology);

}  // namespace tilerail
