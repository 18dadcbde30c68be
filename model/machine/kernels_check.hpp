#pragma once

#include "model/machine/table_entry.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Adds the tables of kernel times that break an invariant.
void check_kernels(const Topology::Description& description, Defects& defects);

}  // namespace tilerail
