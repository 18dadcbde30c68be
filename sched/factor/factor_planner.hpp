#pragma once

#include <optional>
#include <span>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

struct FactorOptions {
  int64_t tile = 0;        // rows and columns
  int64_t reflectors = 0;  // geqrf: in a block of them, at most; 0: as many as columns
  /// The memory whose processor computes each tile: owner computes. Absent: the processor
  /// that would finish a task first.
  std::optional<Layout> owners = {};
};

/// Plans a factorisation by list scheduling on these devices. Tiles end where blocks of
/// the matrix or of its owners do. Throws InputError if an owner is not a device, or as
/// plan_by_list.
Plan plan_factorisation(const FactorProblem& problem, const Topology& topology,
                        std::span<const MemoryId> devices, const FactorOptions& options);

}  // namespace tilerail
