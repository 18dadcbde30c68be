#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sched/tasks/directory.hpp"
#include "sched/tasks/task_graph.hpp"

namespace tilerail {

/// A routine as tasks, which may run on any device.
struct TaskProgram {
  TaskGraph graph;
  std::vector<Buffer::Kind> matrices;  // that tiles are parts of
  /// By TileId, without users. The context has the buffers of the matrices.
  std::function<std::vector<TileDirectory::Tile>(const PlanContext&)> tiles;
};

/// Plans the tasks on all of these GPUs by list scheduling (ListChooser). `problem` as
/// `checked` returns it. Throws InputError when the devices are no GPUs, or when the
/// matrices or the tiles do not fit.
Plan plan_by_list(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, int64_t tile,
                  const TaskProgram& program);

}  // namespace tilerail
