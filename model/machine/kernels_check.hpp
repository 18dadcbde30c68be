#pragma once

#include "model/machine/topology.hpp"

namespace tilerail {

/// Throws TopologyDefect for the first table of kernel times that breaks an invariant.
void check_kernels(const Topology::Description& description);

}  // namespace tilerail
