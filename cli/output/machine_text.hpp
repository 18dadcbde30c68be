#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// A machine as text: memories, links, groups, kernels, provenance, the rate of each pair of memories alone, and the
/// rates of each GPU while all GPUs copy from or to a host. Rates have units; "-" if no route exists.
std::string describe(const Topology& topology);

}  // namespace tilerail::cli
