#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// A machine as text: memories, links, groups, kernels, provenance, and what each pair of memories gets alone and
/// when all pairs of a kind are busy. Rates are in units that are stated; "-" where there is no route.
std::string describe(const Topology& topology);

}  // namespace tilerail::cli
