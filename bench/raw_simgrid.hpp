#pragma once

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail::bench {

/// The copies and kernels of a plan given to SimGrid by the shortest possible driver:
/// dependency counters, the same routes with their group links (of fixed capacity),
/// kernels that share their GPU. No engine limits, rate caps, issue cost, ties,
/// load-dependent groups or timeline. Makespan in seconds; a measure of speed, not of
/// machines. Once a process, and not in one that simulates otherwise: its callbacks stay
/// connected. `latency`: let SimGrid's links have their latencies (which also bias its
/// shares), or leave latency out.
double run_raw(const Plan& plan, const Topology& topology, bool latency);

}  // namespace tilerail::bench
