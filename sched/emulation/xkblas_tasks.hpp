#pragma once

#include <deque>
#include <map>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/place/chooser.hpp"

namespace tilerail {

/// The tasks of XKBLAS: the owner of a tile of C computes all of it. Sub-problem (i, j, k
/// + 1) becomes ready when (i, j, k) has ended and goes to the head of its GPU's queue,
/// which begins with all (i, j, 0) row by row. Source: XKBLAS (Gautier and Lima, 2020,
/// 2021), its public code.
class XkblasTasks final : public Chooser {
 public:
  XkblasTasks(const GemmTasks& tasks, const Tiling& tiling);

  /// A GPU has at most 8 unfinished tasks, 4 of which wait for tiles.
  static constexpr TasksAtOnce at_once{.unfinished = 8, .waiting = 4};

  std::optional<Task> next(size_t device) override;
  void ended(size_t device, const Task& task) override;

 private:
  const GemmTasks& tasks_;
  const Tiling& tiling_;
  std::vector<std::deque<SubProblem>> ready_;  // by device
  std::map<TileId, SubProblem> running_;       // by the tile of C
};

}  // namespace tilerail
