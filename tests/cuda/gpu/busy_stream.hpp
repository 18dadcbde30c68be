#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <memory>
#include <thread>

#include "backends/cuda/measure/hold_stream.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::test {

/// A stream of the caller whose later work waits from occupy() to release(), however long the test is preempted.
class BusyStream {
 public:
  BusyStream() { cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
  ~BusyStream() {
    release();
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  BusyStream(const BusyStream&) = delete;
  BusyStream& operator=(const BusyStream&) = delete;

  void occupy() {
    gate_ = std::make_unique<cuda::Gate>();
    cuda::hold_stream(*gate_, stream_);
  }
  bool busy() const { return cudaStreamQuery(stream_) == cudaErrorNotReady; }
  void release() {
    if (later_.joinable()) later_.join();
    if (gate_) gate_->open();
  }
  /// While the caller goes on to a call that has to wait for the stream.
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
};

}  // namespace tilerail::test
