#pragma once

#include <span>

#include "cost/resources.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// Whether some transfer that the problem may need, between devices or a device and a matrix's memory, moves faster
/// over another of the devices than on its own route, with nothing else running. GEMMs only.
bool relays_help(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices);

}  // namespace tilerail
