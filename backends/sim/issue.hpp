#pragma once

#include <vector>

#include "model/timeline.hpp"
#include "sched/plan.hpp"

namespace tilerail {

/// Writes into `ops[i].start` when the host thread of op i's device has handed it over, in seconds:
///   issued(i) = issued(op before i on the same thread) + per_op + per_dependency * |deps of i in other queues|
/// Threads issue in plan order; one a device, or one for all when the plan has a single issuer.
void set_issue_times(const Plan& plan, const Topology& topology, std::vector<OpTime>& ops);

}  // namespace tilerail
