#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/published/link_map.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/gemm/owners.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// The slots of a memory, rounded down to one of the sizes floor(2^(j/8)): plans of a few
/// sizes can be compared, and more memory has the plans of less memory among them.
int64_t rounded_slots(int64_t slots);

/// Plans one problem on all given GPUs with one tile size and grid.
class TileScheduler {
 public:
  /// Throws InputError if matrices do not fit where they are placed.
  explicit TileScheduler(const Question& question);

  /// The policy's grid; one column of GPUs if the result is a vector.
  Grid grid() const;

  /// The same grid, or one without layers if partial sums of C do not fit together with
  /// the tiles.
  Grid fitting(Grid grid, int64_t tile) const;

  /// Whether the decided tile shape is kept: squares, or other tiles that all fit or have
  /// at least `comfortable_slots` slots.
  bool keeps_shape(const Decisions& decisions) const;

  /// The largest tile of which every device can hold enough.
  int64_t largest_tile() const;

  /// The decisions of a plan with this tile: squares if memory has too few slots
  /// for other tiles.
  Decisions decisions(int64_t tile, Grid grid) const;

  /// Approximate number of kernels.
  double kernels(const Decisions& decisions) const;

  /// The plan of the decisions or, if tiles of other shapes do not all fit, of squares:
  /// the plan with the least estimated makespan. Throws InputError if there are too many
  /// kernels, or if memory is too small for the least number of tiles.
  Plan plan(int64_t tile, Grid grid) const;
  /// The plan for earlier decisions, for the devices and the memory fraction of the
  /// question.
  Plan plan(const Decisions& decisions) const;

 private:
  Decisions in_squares(int64_t tile, Grid grid) const;
  int layers_for(int most, int gpus) const;
  bool reach_each_other(int layers) const;
  Grid grid_of(int layers) const;
  std::vector<TileDirectory::WarmTile> add_operations(
      Plan& plan, const Decisions& decisions,
      std::span<const TileDirectory::WarmTile> from_start) const;
  void add_with_evictions(Plan& plan, const Decisions& decisions, const Tiling& tiles,
                          int64_t slot) const;
  Plan with_evictions(Plan plan, const Decisions& decisions, const Tiling& tiles,
                      int64_t slot, const std::vector<int64_t>& slots,
                      int64_t steps) const;
  std::vector<TileDirectory::WarmTile> add_tasks(
      PlanContext& context, const Tiling& tiles,
      std::span<const TileDirectory::WarmTile> warm) const;
  template <class Run>
  auto with_workspace(Plan& plan, const Decisions& decisions,
                      std::span<const int64_t> capacities, int64_t slot,
                      const Run& run) const;
  /// Null unless routing=link-map.
  std::shared_ptr<const SharedLinks> link_map_routes(const Decisions& decisions) const;
  TileCut cut_for(const Decisions& decisions) const;
  Tiling tiling(const Decisions& decisions) const;
  Tiling tiling(const Decisions& decisions, const TileCut& how) const;
  /// Whether there are tiles along m, n and k, whose sizes may differ.
  bool in_cubes() const {
    return problem_.routine == Routine::gemm && problem_.has_product();
  }
  bool need_others() const;
  /// Whether every device has memory for all its tiles.
  bool fit(const Tiling& tiles, const Decisions& decisions) const;
  /// Whether memory has enough slots for tiles of other shapes than squares.
  bool keeps(const Tiling& tiles, const Decisions& decisions) const;
  int64_t largest_slot(const Tiling& tiles) const;
  int64_t slot_of_side(int64_t side) const;
  bool has_room(int64_t side, size_t device) const;
  int64_t slot_for(const Tiling& tiling, bool used_once,
                   const Decisions& decisions) const;
  /// Throws InputError with the largest side that fits. `slot`: bytes of one tile.
  [[noreturn]] void refuse_tile(int64_t tile, int64_t slot, size_t device) const;

  const Question question_;
  const GemmProblem& problem_;
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  std::vector<int64_t> capacities_;  // bytes for tiles, by device
  Borders borders_;
};

}  // namespace tilerail
