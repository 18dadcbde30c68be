#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The inverse of read_topology: reading the result gives an equal topology. Throws InputError when an entry names a
/// source that the description has not. Used by calibration.
std::string to_toml(const Topology::Description& description);

}  // namespace tilerail
