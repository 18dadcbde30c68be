#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// What every planner checks before it plans. All throw InputError.

/// Whether these are GPUs of the machine, at least one, none of them twice, and not too
/// many.
void check_devices(const Topology& topology, std::span<const MemoryId> devices);

/// Whether matrices lie in memories of the machine.
void check_places(const GemmProblem& problem, const Topology& topology);

/// Whether tiles of this size cut a problem into no more kernels than a plan may have.
/// `asked`: the tile that the caller gave, 0 for none; an error names --tile only where
/// that is it.
void check_kernel_count(double kernels, int64_t tile, int64_t asked);

/// Refuses a copy between memories that have no route.
[[noreturn]] void no_route(const Topology& topology, MemoryId src, MemoryId dst);

/// Whether a plan copies only between memories that have routes. A tile of C that has
/// none is not found out before.
void check_routes(const Plan& plan, const Topology& topology);

/// Bytes that tiles may take on each device: this fraction of its memory, and no more
/// than the matrices that live there leave. `problem` as `checked` returns it. Throws
/// when matrices do not fit where they are placed.
std::vector<int64_t> capacities_for_tiles(const GemmProblem& problem,
                                          const Topology& topology,
                                          std::span<const MemoryId> devices,
                                          double fraction);

}  // namespace tilerail
