#pragma once

#include <span>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A = L L^T of a matrix in one memory, by list scheduling on all of these GPUs: to plan
/// and to simulate only, since no backend has its kernels. `problem`: m = n = k, the
/// matrix is C, alpha is -1. Throws InputError when the devices are no GPUs, when there
/// would be too many kernels, or when the matrix or the tiles do not fit.
Plan plan_cholesky(const GemmProblem& problem, const Topology& topology,
                   std::span<const MemoryId> devices, int64_t tile);

}  // namespace tilerail
