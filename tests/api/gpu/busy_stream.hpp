#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::test {

/// A stream of the caller's with work in it that takes some 20 ms.
class BusyStream {
 public:
  BusyStream() {
    cuda::check(cudaMalloc(&scratch_, bytes), "allocating");
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  ~BusyStream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaFree(scratch_);
  }
  BusyStream(const BusyStream&) = delete;
  BusyStream& operator=(const BusyStream&) = delete;

  void occupy() const {
    for (int i = 0; i < 200; ++i) cuda::check(cudaMemsetAsync(scratch_, i, bytes, stream_), "occupying a stream");
  }
  bool busy() const { return cudaStreamQuery(stream_) == cudaErrorNotReady; }
  void wait() const { cuda::check(cudaStreamSynchronize(stream_), "waiting"); }
  operator cudaStream_t() const { return stream_; }

 private:
  static constexpr std::size_t bytes = std::size_t{256} << 20;
  cudaStream_t stream_ = nullptr;
  void* scratch_ = nullptr;
};

}  // namespace tilerail::test
