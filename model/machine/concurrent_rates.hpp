#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Rates of simultaneous copies: max-min fair sharing of links, groups and the copies'
/// own caps. `flows` lists (src, dst) of each copy; the rate is infinite if src == dst.
/// Throws InputError if a pair has no route.
std::vector<Rate> concurrent_rates(const Topology& topology,
                                   std::span<const std::pair<MemoryId, MemoryId>> flows);

}  // namespace tilerail
