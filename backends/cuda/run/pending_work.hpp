#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/run/stream_on_device.hpp"
#include "backends/cuda/run/timed_event.hpp"

namespace tilerail::cuda {

/// Submitted work that has not been waited for, represented by the ends of its streams.
class PendingWork {
 public:
  PendingWork() = default;
  ~PendingWork();  // waits
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;

  /// Later work of `streams` runs after the present work of `callers` and after pending
  /// work. Throws CudaError.
  void begin(std::span<const StreamOnDevice> streams,
             std::span<const StreamOnDevice> callers);

  /// The present work of `streams` becomes pending, and later work of `callers` runs
  /// after it. Throws CudaError.
  void end(std::span<const StreamOnDevice> streams,
           std::span<const StreamOnDevice> callers);

  /// Waits until no work is pending. Throws CudaError if some of it failed.
  void wait();

 private:
  struct Mark {
    int device;
    std::unique_ptr<PlainEvent> event;
  };
  Mark mark(const StreamOnDevice& place);
  static void follow(std::span<const StreamOnDevice> streams,
                     std::span<const Mark> marks);
  void put_back(std::vector<Mark> marks);

  std::vector<Mark> ends_;   // of pending work: at most one
  std::vector<Mark> spare_;  // waits for an event refer to its earlier record, so it can
                             // be recorded again immediately
};

}  // namespace tilerail::cuda
