#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

/// An event of the device that is current when it is made, with a time.
class TimedEvent {
 public:
  TimedEvent() { check(cudaEventCreate(&event_), "creating an event"); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;

  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Seconds between two events of one device that have both happened.
inline double seconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from, to), "reading a time");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace tilerail::cuda
