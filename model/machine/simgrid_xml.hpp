#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail {

/// A platform file for SimGrid. A copy alone takes the same time as in TileRail's model.
/// Throws InputError if the machine has too many memories for a table of all routes.
/// docs/formats.md#simgrid-platforms
std::string to_simgrid_xml(const Topology& topology);

}  // namespace tilerail
