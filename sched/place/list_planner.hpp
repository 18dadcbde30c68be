#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sched/tasks/directory.hpp"
#include "sched/tasks/task_graph.hpp"

namespace tilerail {

/// A routine as tasks that may run on any device.
struct TaskProgram {
  TaskGraph graph;
  /// Tiles by TileId, without users, as views of whole tensors, whose buffers are given
  /// by TensorId.
  std::function<std::vector<TileDirectory::Tile>(std::span<const BufferId>)> tiles;
  bool owner_computes = false;  // ListChooser
};

/// Plans the tasks on all of these GPUs by list scheduling (ListChooser). `problem`: as
/// returned by `checked`. Throws InputError if the devices are not GPUs, or if the
/// matrices or the tiles do not fit.
Plan plan_by_list(const Problem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, int64_t tile,
                  const TaskProgram& program);

}  // namespace tilerail
