#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <span>
#include <vector>

#include "backends/cuda/run/host_arena.hpp"
#include "backends/cuda/run/pinned_memory.hpp"
#include "backends/cuda/run/staging.hpp"

namespace tilerail::cuda {

/// Page-locked slots and their events; they live across calls.
class StagingMemory {
 public:
  StagingMemory() = default;
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  /// Slots for these chunks in each direction. Throws CudaError if the memory cannot be
  /// locked.
  std::array<StagingRing, 2> rings(const StagingChunks& chunks);
  /// Event of a slot for a copy of this device.
  cudaEvent_t event(Direction direction, size_t slot, int device) {
    return events_.at({device, direction})[slot];
  }
  /// Makes the events of a device. Throws CudaError.
  void open(int device);

 private:
  HostArena memory_{pinned_memory()};
  std::map<std::pair<int, Direction>, std::vector<cudaEvent_t>> events_;  // by slot
};

/// The copies of one run that go through slots.
class StagedCopies {
 public:
  /// Starts to fill slots. `starts`: start of each buffer of the plan; `devices`: CUDA
  /// devices of its GPUs, by MemoryId. All arguments must outlive it. Throws CudaError.
  StagedCopies(StagingMemory& memory, const Plan& plan, PageableMatrices pageable,
               std::span<std::byte* const> starts, std::span<const int> devices);

  bool has(OpId op) const;
  /// Issues a copy, chunk by chunk, when slots are ready. Returns the seconds that it
  /// waited for slots. Throws CudaError, or ExecutionError after `abandon`.
  double issue(OpId op, cudaStream_t stream, int device);
  /// Waits until all copies from GPUs are stored. Throws CudaError.
  void finish() { staging_.finish(); }
  void abandon() { staging_.abandon(); }

 private:
  bool has_ended(Direction direction, size_t chunk);

  StagingMemory& memory_;
  const Plan& plan_;
  std::span<std::byte* const> starts_;
  StagingChunks chunks_;
  std::array<StagingRing, 2> rings_;
  std::array<std::vector<int>, 2> devices_;  // by chunk: the device of its copy
  Staging staging_;
};

}  // namespace tilerail::cuda
