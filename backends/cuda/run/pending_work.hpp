#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/run/stream_on_device.hpp"
#include "backends/cuda/run/timed_event.hpp"

namespace tilerail::cuda {

/// Work that was handed over and that nobody has waited for, by the ends of its streams.
class PendingWork {
 public:
  PendingWork() = default;
  ~PendingWork();  // waits
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;

  /// What `streams` are handed next comes after all that `callers` hold now, and after
  /// what is pending. Throws CudaError.
  void begin(std::span<const StreamOnDevice> streams,
             std::span<const StreamOnDevice> callers);

  /// All that `streams` hold now is pending, and what `callers` are handed next comes
  /// after it. Throws CudaError.
  void end(std::span<const StreamOnDevice> streams,
           std::span<const StreamOnDevice> callers);

  /// Waits until nothing is pending. Throws CudaError when some of it failed.
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

  std::vector<Mark> ends_;   // of what is pending: one, or none
  std::vector<Mark> spare_;  // waits for an event stand as they were made, so it may be
                             // recorded again at once
};

}  // namespace tilerail::cuda
