#include "sched/tasks/task_graph.hpp"

namespace tilerail {

void TaskGraph::order(TaskId before, TaskId after) {
  std::vector<TaskId>& successors = nodes_[before.index()].successors;
  if (before == after || (!successors.empty() && successors.back() == after)) return;
  successors.push_back(after);
  ++nodes_[after.index()].predecessors;
}

TaskId TaskGraph::insert(Task task) {
  const TaskId id{nodes_.size()};
  nodes_.emplace_back();
  for (const TileId tile : task.reads) {
    if (tile == no_tile) continue;
    Uses& uses = uses_[tile];
    if (uses.writer.value >= 0) order(uses.writer, id);
    uses.readers.push_back(id);
  }
  for (WrittenTile& also : task.also_writes) write(also.tile, id), also.last = true;
  task.first = write(task.writes, id), task.last = true;
  nodes_[id.index()].task = task;
  return id;
}

/// Whether no task wrote the tile before.
bool TaskGraph::write(TileId tile, TaskId id) {
  Uses& uses = uses_[tile];
  const bool first = uses.writer.value < 0;
  if (!first) {
    Task& before = nodes_[uses.writer.index()].task;
    if (before.writes == tile) before.last = false;
    for (WrittenTile& also : before.also_writes)
      if (also.tile == tile) also.last = false;
    order(uses.writer, id);
  }
  for (const TaskId reader : uses.readers) order(reader, id);
  uses = {id, {}};
  return first;
}

}  // namespace tilerail
