#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// By operation: the time from the start of the execution until a host thread has
/// submitted it. There is one thread for each device, or one for all, each in plan order.
/// A dependency between streams has a cost unless an earlier dependency of the same two
/// streams implies it (docs/model.md#simulator). A plan that is one graph is submitted in
/// the same order at the costs of graphs, if the machine has them: one host thread
/// launches it, and each device takes its kernels by itself. A plan that emulates a
/// library uses the library's threads.
std::vector<Seconds> issue_times(const Plan& plan, const Topology& topology);

/// Whether a plan gains if it is submitted as one graph. Kernels that start together in a
/// graph displace the page-table entries that copies of columns need, so that only plans
/// limited by their issuing threads gain: the busiest thread needs more than 0.4 of the
/// time of the busiest device or copy direction (kernels timed as in a graph). Never if
/// the plan has more than `most_graph_operations`. docs/model.md#graphs
bool gains_as_graph(const Plan& plan, const Topology& topology);

}  // namespace tilerail
