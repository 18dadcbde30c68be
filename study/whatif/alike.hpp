#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "study/whatif/knob.hpp"

namespace tilerail::study {

/// Knobs that are alike: of equal figures and at places that nothing tells apart, neither the figures around them nor
/// where the matrices are nor which GPUs may be used. By the order of their first members.
/// Source: colour refinement, Weisfeiler and Leman 1968, on the graph of nodes, links, groups and named routes.
std::vector<std::vector<Knob>> classes_of_alike(const Topology& topology, const GemmProblem& problem,
                                                std::span<const MemoryId> devices);

/// One name for many: "host->gpu[0-3]", "gpu[0,2]->plx1"; names of different forms are listed, the third and further
/// ones as their number.
std::string common_name(std::span<const std::string> names);

}  // namespace tilerail::study
