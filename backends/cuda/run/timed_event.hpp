#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

/// An event of the device that was current at its creation.
template <unsigned flags>
class OwnedEvent {
 public:
  OwnedEvent() { check(cudaEventCreateWithFlags(&event_, flags), "creating an event"); }
  ~OwnedEvent() { cudaEventDestroy(event_); }
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;

  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

using TimedEvent = OwnedEvent<cudaEventDefault>;
using PlainEvent = OwnedEvent<cudaEventDisableTiming>;  // cheaper for streams; used in
                                                        // plans

/// Seconds between two events of one device that have both happened.
inline double seconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from, to), "reading a time");
  return 1e-3 * double(milliseconds);
}

}  // namespace tilerail::cuda
