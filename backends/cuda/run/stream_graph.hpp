#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <span>

#include "backends/cuda/run/timed_event.hpp"

namespace tilerail::cuda {

/// Work on streams of one device that was recorded once and is launched as a whole, without a host thread that hands
/// each part over. It holds the addresses and values that the work was recorded with.
class StreamGraph {
 public:
  /// Records what `issue` hands to these streams of the current device; it may record and wait for events there. At
  /// the start of a launch all streams begin, at its end all have ended. Throws CudaError, and what `issue` throws.
  StreamGraph(std::span<const cudaStream_t> streams, const std::function<void()>& issue);
  ~StreamGraph();
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  /// Hands everything to the first stream. Throws CudaError.
  void launch() const;
  /// Until that has ended. Throws CudaError.
  void wait() const;
  /// The same for a launch that nobody waits for: the graph lives until it has ended. Throws CudaError.
  void hand_over();

 private:
  cudaStream_t first_;
  cudaGraphExec_t made_ = nullptr;
  std::unique_ptr<PlainEvent> end_;  // of what was handed over last
};

}  // namespace tilerail::cuda
