#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cuda/run/staging_chunks.hpp"

namespace tilerail::cuda {

/// A ring of memory slots for chunks.
struct StagingRing {
  std::byte* data = nullptr;
  size_t slots = 0, slot_bytes = 0;

  size_t slot_of(size_t chunk) const { return chunk % slots; }
  std::byte* memory_of(size_t chunk) const { return data + slot_of(chunk) * slot_bytes; }
};

/// One run's transfers between pageable memory and slots that a GPU copies at full speed.
/// Threads fill slots ahead of the copies to GPUs and empty slots after the copies from
/// GPUs, chunks in the order of the plan; the issuer of a copy waits for its slot.
/// Independent of CUDA.
///
/// Waits poll. With std::atomic::notify, wake-ups were lost: it can find no waiter before
/// the new value is visible, which a slot full of stores delays. Fillers and emptiers
/// have spare slots.
///
/// No issuer waits forever: a slot becomes free when the copy of the chunk that used it
/// before has ended, and that copy belongs to an operation no later than the issuer's
/// own.
class Staging {
 public:
  /// Whether an issued copy of a chunk has ended; can throw.
  using CopyQuery = std::function<bool(Direction direction, size_t chunk)>;

  /// Starts the threads, fillers and emptiers, or fewer if the system allows no more.
  /// `chunks` must outlive it. Throws ThreadShortage if chunks need a filler or an
  /// emptier and none can be started.
  Staging(const StagingChunks& chunks, std::array<StagingRing, 2> rings,
          CopyQuery has_ended, std::array<size_t, 2> threads);
  /// Abandons the remaining chunks.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Waits until the slot of this chunk is full (Direction::in) or empty
  /// (Direction::out). Throws ExecutionError after `abandon`.
  std::byte* await(Direction direction, size_t chunk);
  /// Marks the copy of the chunk as issued.
  void issued(Direction direction, size_t chunk) {
    set(direction, chunk, direction == Direction::in ? 2 : 1);
  }
  /// Waits until every chunk is at its destination; all must have been issued. Throws the
  /// error that stopped a thread.
  void finish();
  /// Ends every wait, so that threads stop. Chunks in flight can still be emptied.
  void abandon();

 private:
  // Stages of a chunk: in: 1 in its slot, 2 issued; out: 1 issued, 2 out of its slot.
  using Stages = std::vector<std::atomic<int>>;

  void work(Direction direction);
  void start_more(std::array<size_t, 2> threads);
  void stop();
  /// Throws the error that stopped a thread, if any.
  void rethrow_failure();
  void wait_for_copy(Direction direction, size_t chunk);
  void fill(size_t chunk);
  void empty(size_t chunk);
  void set(Direction direction, size_t chunk, int stage) {
    stages(direction)[chunk].store(stage, std::memory_order_release);
  }
  /// `rests`: whether the thread sleeps between polls.
  void wait_for(Direction direction, size_t chunk, int stage, bool rests);
  const StagingRing& ring(Direction direction) const { return rings_[size_t(direction)]; }
  Stages& stages(Direction direction) { return stages_[size_t(direction)]; }

  const StagingChunks& chunks_;
  std::array<StagingRing, 2> rings_;
  CopyQuery has_ended_;
  std::array<Stages, 2> stages_;
  std::array<std::atomic<size_t>, 2> next_{};
  std::atomic<bool> abandoned_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace tilerail::cuda
