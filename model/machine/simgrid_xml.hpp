#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail {

/// A platform file for SimGrid, in which a copy alone takes as long as here.
/// docs/formats.md#simgrid-platforms Throws InputError when the machine has more memories
/// than a table of all routes is written for.
std::string to_simgrid_xml(const Topology& topology);

}  // namespace tilerail
