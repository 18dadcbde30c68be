#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// The largest number of memories for tables of pairs: larger ones are unreadable and
/// take minutes.
inline constexpr size_t most_in_tables = 128;

/// Memories, links, groups, kernels, costs, bandwidth of pairs, routes and sources of
/// figures, for a terminal.
std::string describe(const Topology& topology);

/// One line for `topo list`: the parts of the machine.
std::string brief_text(const Topology& topology);

}  // namespace tilerail::cli
