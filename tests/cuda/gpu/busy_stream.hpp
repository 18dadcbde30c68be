#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>

#include "backends/cuda/measure/hold_stream.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::test {

/// A stream of the caller whose later work waits from occupy() to release(), even if the
/// test is preempted.
class BusyStream {
 public:
  BusyStream() {
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                "creating a stream");
  }
  ~BusyStream() {
    release();
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaFree(scratch_);
  }
  BusyStream(const BusyStream&) = delete;
  BusyStream& operator=(const BusyStream&) = delete;

  void occupy() {
    gate_ = std::make_unique<cuda::Gate>();
    cuda::hold_stream(*gate_, stream_);
  }
  /// Occupies the stream for about 200 ms: asynchronous copies between pinned memory and
  /// a GPU wait for earlier host functions.
  void occupy_by_kernels() {
    constexpr size_t bytes = size_t{2} << 30;
    constexpr int times = 200;
    if (!scratch_) cuda::check(cudaMalloc(&scratch_, bytes), "allocating");
    for (int i = 0; i < times; ++i)
      cuda::check(cudaMemsetAsync(scratch_, i, bytes, stream_), "occupying a stream");
  }
  bool busy() const { return cudaStreamQuery(stream_) == cudaErrorNotReady; }
  void release() {
    if (later_.joinable()) later_.join();
    if (gate_) gate_->open();
  }
  /// Releases the stream during a call that must wait for it.
  void release_soon() {
    later_ = std::thread{[this] {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      gate_->open();
    }};
  }
  void wait() {
    release();
    cuda::check(cudaStreamSynchronize(stream_), "waiting");
  }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<cuda::Gate> gate_;
  std::thread later_;
  void* scratch_ = nullptr;
};

}  // namespace tilerail::test
