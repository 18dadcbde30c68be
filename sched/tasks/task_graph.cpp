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
  Uses& uses = uses_[task.writes];
  task.first = uses.writer.value < 0, task.last = true;
  if (!task.first) {
    nodes_[uses.writer.index()].task.last = false;
    order(uses.writer, id);
  }
  for (const TaskId reader : uses.readers) order(reader, id);
  uses = {id, {}};
  nodes_[id.index()].task = task;
  return id;
}

}  // namespace tilerail
