#include "sched/emulation/blasx_tasks.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

BlasxTasks::BlasxTasks(const GemmTasks& tasks, const Tiling& tiling, Fetcher& fetcher,
                       size_t most)
    : tasks_{tasks},
      fetcher_{fetcher},
      depth_{int64_t(tiling.k.size())},
      batch_{std::min(streams, most)},
      batches_(tiling.devices(), Batch{{}, depth_}) {
  for (const auto i : indices(tiling.m))
    for (const auto j : indices(tiling.n)) waiting_.push_back({int64_t(i), int64_t(j)});
}

void BlasxTasks::take(size_t device) {
  Batch& batch = batches_[device];
  batch.open_before = batch.open, batch.taken_at = fetcher_.next_op();
  batch.tiles.clear();
  while (batch.tiles.size() < batch_ && !waiting_.empty()) {
    batch.tiles.push_back(waiting_.back());
    waiting_.pop_back();
  }
  batch.k = 0, batch.stream = 0, batch.open = batch.tiles.size();
}

/// The next batch begins when a task of the last k of the current batch has ended: the
/// first stream's task, since a GPU's kernels end in the order of submission.
std::optional<Task> BlasxTasks::next(size_t device) {
  Batch& batch = batches_[device];
  if (batch.running > 0 && batch.running >= batch.tiles.size()) return std::nullopt;
  if (batch.k == depth_) {
    if (waiting_.empty()) return std::nullopt;
    take(device);
  }
  const TileOfC tile = batch.tiles[batch.stream];
  const Task task =
      tasks_.task({tile.i, tile.j, batch.k}, batch.k == 0, batch.k + 1 == depth_);
  ++batch.running;
  if (++batch.stream == batch.tiles.size()) batch.stream = 0, ++batch.k;
  return task;
}

void BlasxTasks::ended(size_t device, const Task& task) {
  Batch& batch = batches_[device];
  --batch.running;
  if (!task.last) return;
  if (batch.open_before > 0) {
    if (--batch.open_before == 0) fetcher_.show(device, batch.taken_at);
    return;
  }
  if (--batch.open == 0) fetcher_.show(device, fetcher_.next_op());
}

}  // namespace tilerail
