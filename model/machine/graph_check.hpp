#pragma once

#include "model/machine/table_entry.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Adds the routes that are none.
void check_routes(const Topology::Description& description, Defects& defects);

/// Adds where copies would be split into more parts than solvers can count. Everything else is right.
void check_parts(const Topology::Description& description, Defects& defects);

/// Adds the GPUs that no path joins with hosts. Everything else is right.
void check_reachable(const Topology::Description& description, Defects& defects);

}  // namespace tilerail
