#pragma once

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail::bench {

/// Runs the copies and kernels of a plan in SimGrid with the shortest possible driver:
/// dependency counters, the same routes with their group links (of fixed capacity),
/// kernels that share their GPU. No engine limits, rate caps, issue cost, ties,
/// load-dependent groups or timeline. Returns the makespan in seconds; it measures the
/// speed of SimGrid, not of machines. Limit: once per process, and not in a process with
/// other simulations, because its callbacks stay connected. `latency`: whether SimGrid's
/// links have their latencies (which also bias its shares).
double run_raw(const Plan& plan, const Topology& topology, bool latency);

}  // namespace tilerail::bench
