#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>

#include "backends/cuda/run/stream_on_device.hpp"

namespace tilerail::cuda {

/// Work on streams, of one device or of several, that was recorded once and is launched
/// as a whole, without a host thread that hands each part over. It holds the addresses
/// and values that the work was recorded with.
class StreamGraph {
 public:
  /// Records what `issue` hands to these streams; it may record and wait for events
  /// there, and change the current device. At the start of a launch all streams begin, at
  /// its end all have ended. Throws CudaError, and what `issue` throws.
  StreamGraph(std::span<const StreamOnDevice> streams,
              const std::function<void()>& issue);
  /// A launch that has not ended goes on: the driver frees the graph when it has
  /// (cuGraphExecDestroy).
  ~StreamGraph();
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  /// Hands everything to the first stream. Throws CudaError.
  void launch() const;
  /// Until that has ended. Throws CudaError.
  void wait() const;

 private:
  StreamOnDevice first_;
  cudaGraphExec_t made_ = nullptr;
};

}  // namespace tilerail::cuda
