#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/issuer_pool.hpp"

namespace tilerail::cuda {

/// Holds streams back until everything has been issued.
class Gate {
 public:
  ~Gate() { open(); }
  void hold(cudaStream_t stream) {
    check(cudaLaunchHostFunc(
              stream,
              [](void* gate) {
                const auto* open = static_cast<const std::atomic<bool>*>(gate);
                spin_until([open] { return open->load(); });
              },
              &open_),
          "holding a stream");
  }
  void open() { open_ = true; }

 private:
  std::atomic<bool> open_{false};
};

}  // namespace tilerail::cuda
