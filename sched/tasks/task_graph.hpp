#pragma once

#include <map>
#include <span>
#include <vector>

#include "sched/tasks/task.hpp"

namespace tilerail {

using TaskId = Id<struct TaskTag>;

/// Tasks inserted in the order of a serial program, and their dependencies: a reader
/// depends on the last writer before it, a writer on that writer and on all readers since
/// (read after write, write after write and write after read). Memory: about 100 bytes
/// per task and 4 per edge.
class TaskGraph {
 public:
  /// Sets `first` and `last` of the task.
  TaskId insert(Task task);

  size_t size() const { return nodes_.size(); }
  const Task& task(TaskId id) const { return nodes_[id.index()].task; }
  /// Ascending, without duplicates.
  std::span<const TaskId> successors(TaskId id) const {
    return nodes_[id.index()].successors;
  }
  size_t predecessors(TaskId id) const { return nodes_[id.index()].predecessors; }

 private:
  struct Node {
    Task task;
    std::vector<TaskId> successors;
    size_t predecessors = 0;
  };
  struct Uses {
    TaskId writer{int32_t{-1}};
    std::vector<TaskId> readers;  // since `writer`
  };
  void order(TaskId before, TaskId after);
  bool write(TileId tile, TaskId id);

  std::vector<Node> nodes_;
  std::map<TileId, Uses> uses_;
};

}  // namespace tilerail
