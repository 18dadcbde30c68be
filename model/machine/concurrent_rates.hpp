#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Rates of copies that run at the same time: max-min fair sharing of links, groups and
/// the copies' own caps. `flows` lists a (src, dst) for each copy, and the result has a
/// rate for each, infinite when src == dst. Throws InputError when a pair has no route.
std::vector<Rate> concurrent_rates(const Topology& topology,
                                   std::span<const std::pair<MemoryId, MemoryId>> flows);

}  // namespace tilerail
