#pragma once

#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"

namespace tilerail {

/// The tasks of BLASX: tiles of C are numbered row by row; all GPUs take from the end of
/// one queue, in batches of four, one per stream. A batch goes through k in step: for
/// each k, tile after tile. A stream's copies follow its last kernel, and the thread
/// waits for it before it serves the next stream; so the tiles of one task at a time are
/// fetched, overlapping the kernels of the other streams. The next batch begins when the
/// first stream's last kernel has ended; other GPUs can use the tiles fetched by a batch
/// after all its kernels. Source: BLASX (Wang et al., 2015), its public code.
class BlasxTasks final : public Chooser {
 public:
  static constexpr size_t streams = 4;
  static constexpr TasksAtOnce at_once{.unfinished = streams, .waiting = 1};

  /// `most`: tiles of C that fit on a GPU.
  BlasxTasks(const GemmTasks& tasks, const Tiling& tiling, Fetcher& fetcher, size_t most);

  std::optional<Task> next(size_t device) override;
  void ended(size_t device, const Task& task) override;

 private:
  struct Batch {
    std::vector<TileOfC> tiles;
    int64_t k = 0;
    size_t stream = 0;          // next stream to serve
    size_t running = 0;         // unfinished tasks
    size_t open = 0;            // incomplete tiles
    size_t open_before = 0;     // tiles of the previous batch
    OpId taken_at{int32_t{0}};  // first operation after the previous batch
  };
  void take(size_t device);

  const GemmTasks& tasks_;
  Fetcher& fetcher_;
  int64_t depth_;
  size_t batch_;                  // tiles of C per batch
  std::vector<TileOfC> waiting_;  // the next tile is last
  std::vector<Batch> batches_;    // by device
};

}  // namespace tilerail
