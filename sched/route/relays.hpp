#pragma once

#include <span>

#include "cost/resources.hpp"
#include "model/problem.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// Whether some transfer that the problem may need, between devices or a device and a matrix's memory, moves faster
/// over another of the devices than on its own route, with nothing else running. GEMMs only.
bool relays_help(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices);

/// The policy with what makes the most of such routes: those of the link map, tiles of C dealt all over, every tile
/// fetched by itself in the order of the plan, write-backs in queues of their own. docs/model.md#relays
Policy relayed(Policy policy);

}  // namespace tilerail
