#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// Tables of a machine of at most so many memories; those of more are read by nobody, and take minutes.
inline constexpr size_t most_in_tables = 128;

/// Kinds of routes, each GPU with its nearest host, bisection. Lines grow with the GPUs, not with their pairs.
std::string facts_text(const Topology& topology);

/// The same as JSON, and pairs of small machines as nvbandwidth would report them. docs/formats.md#machine-facts
std::string facts_json(const Topology& topology);

/// One line a machine for `topo list`: what it has, by the description.
std::string brief_text(const Topology& topology);

}  // namespace tilerail::cli
