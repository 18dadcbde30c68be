#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/plan_graph.hpp"
#include "backends/cuda/run/stream_on_device.hpp"
#include "backends/cuda/run/stream_program.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A bound plan. It owns its events; the devices own streams, handles and arenas.
class CudaPlan {
 public:
  CudaPlan(Plan plan, cuda::StreamProgram program);
  ~CudaPlan();
  CudaPlan(const CudaPlan&) = delete;
  CudaPlan& operator=(const CudaPlan&) = delete;

  Plan plan;
  std::string hash;
  cuda::StreamProgram program;
  std::vector<int> ordinals;          // by stream: the CUDA device
  std::vector<cudaStream_t> streams;  // by stream
  std::vector<void*> handles;  // by stream: cublasHandle_t of compute streams, else null
  std::vector<std::byte*>
      scalars;  // by stream: GemmCall::scalar of compute streams, else null
  std::vector<std::vector<uint32_t>> streams_of_issuer;
  cuda::RepeatedRuns runs;

  /// Creates the events. Throws CudaError.
  void create_events();
  cudaEvent_t event(size_t index) const { return events_[index]; }
  std::vector<cuda::StreamOnDevice> streams_on_devices() const;

 private:
  std::vector<cudaEvent_t> events_;
};

}  // namespace tilerail
