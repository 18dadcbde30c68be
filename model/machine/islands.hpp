#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Sets of devices that are connected by copies of at least some rate, directly or over
/// other members, for every rate of a copy between two of them in either direction. Two
/// sets are nested or disjoint. Members are ascending positions in `devices`; sets of one
/// device and of all devices are omitted.
std::vector<std::vector<size_t>> islands(const Topology& topology,
                                         std::span<const MemoryId> devices);

}  // namespace tilerail
