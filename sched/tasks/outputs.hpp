#pragma once

#include "plan/builder.hpp"
#include "sched/tasks/task.hpp"

namespace tilerail {

/// How the tiles that tasks write come to a device, and home again. Two kinds: tiles of
/// one device each, that nobody else reads (sched/gemm/owned_tiles.hpp), and tiles that
/// go from device to device (sched/place/shared_tiles.hpp).
class Outputs {
 public:
  virtual ~Outputs() = default;

  struct Place {
    View view;       // that the kernel writes
    QueueId queue;   // the compute queue that it runs in
    Scalar beta;     // what the kernel scales the view by
    Seconds eta{0};  // when the view is ready, by the clock
  };

  /// Makes the tile that a task writes ready on a device. `deps` gets what the kernel has
  /// to wait for.
  virtual Place open(const Task& task, size_t device, Deps& deps) = 0;

  /// The kernel was added, and ends at `end` by the clock.
  virtual void written(const Task& task, size_t device, OpId kernel, Seconds end) = 0;

  /// There are no more tasks.
  virtual void end() {}
};

}  // namespace tilerail
