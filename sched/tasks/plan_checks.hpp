#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Checks made by every planner before planning. All throw InputError.

/// Checks that these are distinct GPUs of the machine, at least one, and not too many.
void check_devices(const Topology& topology, std::span<const MemoryId> devices);

/// Checks that matrices are in memories of the machine, and replicas on all devices.
void check_places(const Problem& problem, const Topology& topology,
                  std::span<const MemoryId> devices);

/// Checks that tiles of this size cut a problem into no more kernels than a plan may
/// have. `asked`: the tile given by the caller, or 0; an error names the tile only if
/// this tile is the cause.
void check_kernel_count(double kernels, int64_t tile, int64_t asked);

/// Throws the error of a copy between memories without a route.
[[noreturn]] void no_route(const Topology& topology, MemoryId src, MemoryId dst);

/// Checks that a plan copies only between memories with routes. Detects tiles of C
/// without a route, which planning does not.
void check_routes(const Plan& plan, const Topology& topology);

/// Bytes for tiles on each device: this fraction of its memory, and no more than its
/// matrices leave free of the fraction `whole`. `problem`: as returned by `checked`.
/// Throws if matrices do not fit where they are placed.
std::vector<int64_t> capacities_for_tiles(const Problem& problem,
                                          const Topology& topology,
                                          std::span<const MemoryId> devices,
                                          double fraction, double whole = 1);

}  // namespace tilerail
