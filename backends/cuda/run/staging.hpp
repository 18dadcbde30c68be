#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cuda/run/staging_chunks.hpp"

namespace tilerail::cuda {

/// Memory in slots that chunks take in turn.
struct StagingRing {
  std::byte* data = nullptr;
  size_t slots = 0, slot_bytes = 0;

  size_t slot_of(size_t chunk) const { return chunk % slots; }
  std::byte* memory_of(size_t chunk) const { return data + slot_of(chunk) * slot_bytes; }
};

/// One run's transfers between pageable memory and slots that a GPU copies at full speed.
/// Threads fill slots ahead of the copies to GPUs and empty them behind the copies from
/// GPUs, chunks in the order of the plan; whoever issues a copy waits for its slot. Knows
/// nothing of CUDA.
///
/// Waiting is looking again after a while. std::atomic::notify may find no waiter before
/// the new value is seen, which a slot full of stores delays: waits were lost. Fillers
/// and emptiers have slots to spare.
///
/// No issuer waits for ever: a slot comes free once the copy of a chunk so many before
/// has ended, and that copy belongs to an operation no later than the issuer's own.
class Staging {
 public:
  /// Whether the copy of a chunk that was issued has ended; may throw.
  using Copied = std::function<bool(Way way, size_t chunk)>;

  /// Starts the threads, fillers and emptiers, or fewer if no more can be started.
  /// `chunks` outlive it. Throws ThreadShortage if chunks need a filler or an emptier and
  /// not even one can be started.
  Staging(const StagingChunks& chunks, std::array<StagingRing, 2> rings, Copied copied,
          std::array<size_t, 2> threads);
  /// Abandons what is left.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Waits until the slot of this chunk is full (Way::in) or empty (Way::out). Throws
  /// ExecutionError after `abandon`.
  std::byte* await(Way way, size_t chunk);
  /// The copy of the chunk has been issued.
  void issued(Way way, size_t chunk) { set(way, chunk, way == Way::in ? 2 : 1); }
  /// Waits until every chunk is where it belongs; all have been issued. Throws what
  /// stopped a thread.
  void finish();
  /// Lets every wait end, so that threads stop. Chunks that are under way may still be
  /// emptied.
  void abandon();

 private:
  // Stages of a chunk: in: 1 in its slot, 2 issued; out: 1 issued, 2 out of its slot.
  using Stages = std::vector<std::atomic<int>>;

  void work(Way way);
  void start_more(std::array<size_t, 2> threads);
  void stop();
  /// Throws what stopped a thread, if something did.
  void rethrow_failure();
  void wait_for_copy(Way way, size_t chunk);
  void fill(size_t chunk);
  void empty(size_t chunk);
  void set(Way way, size_t chunk, int stage) {
    stages(way)[chunk].store(stage, std::memory_order_release);
  }
  /// `rests`: whether the thread sleeps between looks, or looks all the time.
  void wait_for(Way way, size_t chunk, int stage, bool rests);
  const StagingRing& ring(Way way) const { return rings_[size_t(way)]; }
  Stages& stages(Way way) { return stages_[size_t(way)]; }

  const StagingChunks& chunks_;
  std::array<StagingRing, 2> rings_;
  Copied copied_;
  std::array<Stages, 2> stages_;
  std::array<std::atomic<size_t>, 2> next_{};
  std::atomic<bool> abandoned_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace tilerail::cuda
