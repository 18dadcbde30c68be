#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Sets of devices that copies of at least some rate join, directly or over others of the
/// set, for every rate that copies between two of them have in either direction. Of two
/// sets, one is in the other or they have nothing in common. As places in `devices`,
/// ascending; sets of one device and that of all are left out.
std::vector<std::vector<size_t>> islands(const Topology& topology,
                                         std::span<const MemoryId> devices);

}  // namespace tilerail
