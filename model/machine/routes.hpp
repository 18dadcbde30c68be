#pragma once

#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Links of the route between each pair of memories, at [src * memories + dst]; empty where there is none and when
/// src == dst. The constructor of Topology states the rule.
std::vector<std::vector<LinkId>> resolved_routes(const Topology::Description& description);

}  // namespace tilerail
