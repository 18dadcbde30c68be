#pragma once

#include <span>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

struct FactorOptions {
  int64_t tile = 0;        // rows and columns
  int64_t reflectors = 0;  // geqrf: most reflectors of a block (LAPACK's nb); 0: `tile`
  /// A task runs on the device in whose memory its result is before and after the plan.
  /// All other tasks, and without this all, run where they finish first.
  bool owner_computes = false;
};

/// Plans a factorisation by list scheduling on these devices. Tiles end where blocks of
/// the matrix do. Throws InputError if the devices have no processor, if there are too
/// many kernels, or if the matrix or the tiles do not fit.
Plan plan_factorisation(const FactorProblem& problem, const Topology& topology,
                        std::span<const MemoryId> devices, const FactorOptions& options);

}  // namespace tilerail
