#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// By operation: the time from the start of the execution until a host thread has handed
/// it over. There is one thread for each device, or one for all, each in plan order. A
/// dependency costs where it is one between streams that an earlier one of the same two
/// does not imply (docs/model.md#simulator). A plan that is one graph is handed over in
/// the same order at the costs of graphs, where the machine has them: one host thread
/// launches it, each device takes its kernels by itself. What emulates a library has that
/// library's threads.
std::vector<Seconds> issue_times(const Plan& plan, const Topology& topology);

/// Whether a plan gains by being handed over as one graph. Kernels that start together as
/// a graph lets them displace the entries of the page table that copies of columns need,
/// so that only plans gain whose threads would hold them up: where handing the operations
/// over one by one takes the busiest thread more than 0.4 of the time that the busiest
/// device or direction of its copies works, its kernels as they are in a graph. None of
/// more than `most_graph_operations` does. docs/model.md#graphs
bool gains_as_graph(const Plan& plan, const Topology& topology);

}  // namespace tilerail
