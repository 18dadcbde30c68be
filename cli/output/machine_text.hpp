#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// A machine as text: memories, links, groups, kernels, provenance, and what each pair of memories gets alone and each
/// GPU while all copy from or to a host. Rates are in units that are stated; "-" where there is no route.
std::string describe(const Topology& topology);

}  // namespace tilerail::cli
