#include "sched/emulation/xkblas_tasks.hpp"

#include "model/base/indices.hpp"

namespace tilerail {

XkblasTasks::XkblasTasks(const GemmTasks& tasks, const Tiling& tiling)
    : tasks_{tasks}, tiling_{tiling}, ready_(tiling.devices()) {
  for (const auto d : indices(ready_))
    if (const IndexRange depth = tiling.depth_of(d); depth.size() > 0)
      for (const TileOfC tile : tiling.tiles_of(d))
        ready_[d].push_back({tile.i, tile.j, depth.begin});
}

std::optional<Task> XkblasTasks::next(size_t device) {
  std::deque<SubProblem>& ready = ready_[device];
  if (ready.empty()) return std::nullopt;
  const SubProblem sub = ready.front();
  ready.pop_front();
  const IndexRange depth = tiling_.depth_of(device);
  const Task task = tasks_.task(sub, sub.k == depth.begin, sub.k + 1 == depth.end);
  running_[task.writes] = sub;
  return task;
}

void XkblasTasks::ended(size_t device, const Task& task) {
  const auto running = running_.find(task.writes);
  const SubProblem sub = running->second;
  running_.erase(running);
  if (!task.last) ready_[device].push_front({sub.i, sub.j, sub.k + 1});
}

}  // namespace tilerail
