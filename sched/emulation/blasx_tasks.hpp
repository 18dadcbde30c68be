#pragma once

#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"

namespace tilerail {

/// The tasks of BLASX: tiles of C numbered row by row, all GPUs take from the end of one
/// queue, in batches of four, one a stream. A batch goes through k in step: of each k,
/// tile after tile. What a stream copies follows its last kernel, and the thread waits
/// for it before it turns to the next stream; so one task's tiles are fetched at a time,
/// under the kernels of the other streams. The next batch begins when the first stream's
/// last kernel has ended; other GPUs see what a batch fetched when all of its kernels
/// have. Source: BLASX (Wang et al., 2015), by its public code.
class BlasxTasks final : public Chooser {
 public:
  static constexpr size_t streams = 4;
  static constexpr TasksAtOnce at_once{.unfinished = streams, .waiting = 1};

  /// `most`: tiles of C that a GPU has room for.
  BlasxTasks(const GemmTasks& tasks, const Tiling& tiling, Fetcher& fetcher, size_t most);

  std::optional<Task> next(size_t device) override;
  void ended(size_t device, const Task& task) override;

 private:
  struct Batch {
    std::vector<TileOfC> tiles;
    int64_t k = 0;
    size_t stream = 0;          // whose turn it is
    size_t running = 0;         // tasks that have not ended
    size_t open = 0;            // tiles that are not complete
    size_t open_before = 0;     // tiles of the batch before
    OpId taken_at{int32_t{0}};  // the first operation that is not of that one
  };
  void take(size_t device);

  const GemmTasks& tasks_;
  Fetcher& fetcher_;
  int64_t depth_;
  size_t batch_;                  // tiles of C in one
  std::vector<TileOfC> waiting_;  // the next one last
  std::vector<Batch> batches_;    // by device
};

}  // namespace tilerail
