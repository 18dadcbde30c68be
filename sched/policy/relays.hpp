#pragma once

#include <span>

#include "cost/resources.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// With more GPUs relays are not tried: every pair would have to be asked about every third GPU.
constexpr std::size_t most_with_relays = 256;

/// Whether some transfer that the problem may need, between devices or a device and a matrix's memory, moves faster
/// over another of the devices than on its own route, with nothing else running. Only for GEMMs, on at most
/// `most_with_relays` devices of a machine that a link map can be made of.
bool relays_help(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices);

/// Whether tiles may go from GPU to GPU: between several of these devices, or between one and a matrix on another GPU.
bool may_copy_between_gpus(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices);

}  // namespace tilerail
