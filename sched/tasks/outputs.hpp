#pragma once

#include "plan/builder.hpp"
#include "sched/tasks/task.hpp"

namespace tilerail {

/// Placement of the tiles that tasks write: on a device, and home again. Two kinds: tiles
/// of one device each, not read by others (sched/gemm/owned_tiles.hpp), and tiles that
/// move between devices (sched/place/shared_tiles.hpp).
class Outputs {
 public:
  virtual ~Outputs() = default;

  struct Place {
    View view;       // output of the kernel
    QueueId queue;   // compute queue of the kernel
    Scalar beta;     // factor of the view in the kernel
    Seconds eta{0};  // when all outputs are ready, by the clock
    boost::container::static_vector<View, 2> others = {};  // of Task::also_writes
  };

  /// Prepares the output tile of a task on a device. Adds the kernel's dependencies to
  /// `deps`.
  virtual Place open(const Task& task, size_t device, Deps& deps) = 0;

  /// Called when the kernel was added; it ends at `end` by the clock.
  virtual void written(const Task& task, size_t device, OpId kernel, Seconds end) = 0;

  /// Called after the last task.
  virtual void end() {}
};

}  // namespace tilerail
