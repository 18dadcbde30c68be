#pragma once

#include <span>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Plans A = L L^T of a matrix in one memory by list scheduling on all of these GPUs. For
/// planning and simulation only: no backend has the kernels. Throws InputError if the
/// devices are not GPUs, if there are too many kernels, or if the matrix or the tiles do
/// not fit.
Plan plan_cholesky(const FactorProblem& problem, const Topology& topology,
                   std::span<const MemoryId> devices, int64_t tile);

}  // namespace tilerail
