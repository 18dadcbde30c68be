#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// Tables and figures of a machine of at most so many memories; those of more are read by
/// nobody, and take minutes.
inline constexpr size_t most_in_tables = 128;

/// Memories, links, groups, kernels, costs, the bandwidth of pairs, routes and where the
/// figures come from, for a terminal.
std::string describe(const Topology& topology);

/// One line a machine for `topo list`: what it has, by the description.
std::string brief_text(const Topology& topology);

/// Nodes, links and groups as JSON, for the figure of the Python package.
std::string graph_json(const Topology& topology);

}  // namespace tilerail::cli
