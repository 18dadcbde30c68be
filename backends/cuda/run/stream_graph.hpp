#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>

#include "backends/cuda/run/stream_on_device.hpp"

namespace tilerail::cuda {

/// Work on streams, of one device or of several, that is recorded once and launched as a
/// whole, without a host thread that issues each part. It contains the addresses and
/// values from the recording.
class StreamGraph {
 public:
  /// Records the work that `issue` submits to these streams; `issue` can record and wait
  /// for events there, and change the current device. At the start of a launch all
  /// streams begin, at its end all have ended. Throws CudaError and the errors of
  /// `issue`.
  StreamGraph(std::span<const StreamOnDevice> streams,
              const std::function<void()>& issue);
  /// A running launch continues: the driver frees the graph after its end
  /// (cuGraphExecDestroy).
  ~StreamGraph();
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  /// Submits everything to the first stream. Throws CudaError.
  void launch() const;
  /// Waits for the launch. Throws CudaError.
  void wait() const;

 private:
  StreamOnDevice first_;
  cudaGraphExec_t made_ = nullptr;
};

}  // namespace tilerail::cuda
