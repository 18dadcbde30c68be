#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/published/shared_links.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Plans one problem on all of the given GPUs with one tile size and grid.
class TileScheduler {
 public:
  /// Throws InputError when matrices do not fit where they are placed.
  explicit TileScheduler(const Question& question);

  /// The grid that the policy wants; GPUs below each other where the result is a vector.
  Grid grid() const;

  /// The largest tile of which every device can hold enough.
  std::int64_t largest_tile() const;

  /// Throws InputError when there would be too many kernels, or memory too small for the least number of tiles.
  Plan plan(std::int64_t tile, Grid grid) const;

 private:
  void add_operations(Plan& plan, const Decisions& decisions) const;
  void add_region(PlanContext& context, const Tiling& tiles, const Region& region) const;
  SharedLinks link_map_routes(const LinkMap& map, const Decisions& decisions) const;
  Tiling tiling(const Region& region, const Decisions& decisions) const;
  void check_kernels(std::int64_t tile) const;
  bool fits(const Region& region, const Decisions& decisions) const;
  std::vector<Region> cut_to_memory(const Region& all, const Decisions& decisions) const;
  std::int64_t slot_for(const Tiling& tiling, bool used_once, const Decisions& decisions) const;

  const Question question_;
  const GemmProblem& problem_;
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  std::vector<std::int64_t> capacities_;  // bytes for tiles, by device
};

}  // namespace tilerail
