#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/resources.hpp"
#include "plan/memory_needs.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/policy/policy.hpp"
#include "sched/tasks/arena.hpp"

namespace tilerail {

/// Plans one problem on all of the given GPUs with one tile size and grid. What it is given has to outlive it.
class TileScheduler {
 public:
  /// `problem` as `checked` returns it. `shares`: of C, one a device; empty: what the policy says. Throws InputError
  /// when matrices do not fit where they are placed.
  TileScheduler(const GemmProblem& problem, const Topology& topology, const Resources& resources,
                std::span<const MemoryId> devices, const Policy& policy, std::vector<double> shares = {});

  /// The grid that the policy wants; GPUs below each other where the result is a vector.
  Grid grid() const;

  /// The largest tile of which every device can hold enough.
  std::int64_t largest_tile() const;

  /// Throws InputError when there would be too many kernels, or memory too small for the least number of tiles.
  Plan plan(std::int64_t tile, Grid grid) const;

 private:
  Policy resolved(std::int64_t tile) const;
  std::vector<double> shares_for(std::int64_t tile) const;
  SharedLinks link_map_routes(const LinkMap& map, std::int64_t tile) const;
  Tiling tiling(const Region& region, std::int64_t tile, Grid grid) const;
  void check_kernels(std::int64_t tile) const;
  std::int64_t capacity_for_tiles(MemoryId device, const MemoryNeed& need) const;
  bool fits(const Region& region, std::int64_t tile, Grid grid, const Policy& policy) const;
  std::vector<Region> cut_to_memory(const Region& all, std::int64_t tile, Grid grid, const Policy& policy) const;
  std::vector<Arena> make_arenas(PlanBuilder& builder, const Tiling& tiling, bool used_once,
                                 const Policy& policy) const;

  const GemmProblem& problem_;
  const Topology& topology_;
  const Resources& resources_;
  std::span<const MemoryId> devices_;
  const Policy& policy_;
  std::vector<double> shares_;
  bool lazy_ = false;
  std::vector<std::int64_t> capacities_;
};

}  // namespace tilerail
