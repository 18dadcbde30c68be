#pragma once

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Whether a plan gains by being handed over as one graph. Kernels that start together as a graph lets them displace
/// the entries of the page table that copies of columns need, so that only plans gain whose threads would hold them up:
/// where handing the operations over one by one takes the busiest thread more than 0.4 of the time that the busiest
/// device or direction of its copies works, its kernels as they are in a graph. None of more than
/// `most_graph_operations` does. docs/model.md#graphs
bool gains_as_graph(const Plan& plan, const Topology& topology);

}  // namespace tilerail
