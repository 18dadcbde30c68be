#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "api/hardware.hpp"

namespace tilerail::api {

inline constexpr size_t most_lanes = 4;

/// The lanes of a machine. Only the holder of a lane uses it, so runs of different lanes
/// overlap and share no memory for tiles. Submitted runs in a lane are of one thread, its
/// owner, whose calls use this lane until it has waited for them, so they stay in order.
/// A single thread uses only the first lane. docs/model.md#calls-of-several-threads
class Lanes {
 public:
  Lanes(Hardware& hardware, const Topology& topology);

  struct Slot {
    size_t number = 0;
    std::unique_ptr<Lane> lane;
    uint64_t tickets = 0, served = 0;  // equal if nobody holds the lane or waits for it
    std::thread::id owner = {};        // of submitted runs; none if all were waited for
    std::vector<std::shared_ptr<const void>> used = {};  // by the submitted runs
    std::exception_ptr failure = {};  // of a submitted run, not yet reported
  };
  struct Release {
    Lanes* lanes = nullptr;
    void operator()(Slot* slot) const;
  };
  using Hold = std::unique_ptr<Slot, Release>;

  /// A lane for a call of this thread; waits if all are in use. With `first` the first
  /// lane, which calls get in order.
  Hold hold(bool first);
  /// The first lane. Waits for the present runs of all lanes, and frees the memory for
  /// tiles of the others.
  Hold hold_with_memory();
  /// The holder has submitted a run that uses this state.
  void add_pending(Slot& slot, const std::shared_ptr<const void>& used);
  /// Waits for the submitted runs in a lane of the holder. Throws a failure only if the
  /// holder has submitted them, or with `reports`.
  void finish(Slot& slot, bool reports = false);
  /// The same for the runs of this thread. With `all`, waits for all runs that have
  /// begun, and throws the failure of any submitted run.
  void finish(bool all);

 private:
  Hold take(Slot& slot, std::unique_lock<std::mutex> lock);
  Slot* suitable();

  std::mutex mutex_;  // held only to choose a lane
  std::condition_variable released_;
  std::array<Slot, most_lanes> slots_;
};

}  // namespace tilerail::api
