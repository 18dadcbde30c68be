#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "api/hardware.hpp"

namespace tilerail::api {

inline constexpr size_t most_lanes = 4;

/// The lanes of a machine. Only the holder of a lane uses it, so runs of different lanes
/// overlap and share no memory for tiles. While a submitted run of a thread is pending,
/// calls of the thread use the same lane, so its runs stay in order. A single thread uses
/// only the first lane. docs/model.md#calls-of-several-threads
class Lanes {
 public:
  Lanes(Hardware& hardware, const Topology& topology);

  struct Slot {
    bool is_of_caller() const;

    size_t number = 0;
    std::unique_ptr<Lane> lane;
    uint64_t tickets = 0, served = 0;  // equal if nobody holds the lane or waits for it
    /// Threads with submitted runs, and the state that the runs use.
    std::vector<std::pair<std::thread::id, std::shared_ptr<const void>>> pending = {};
    std::exception_ptr failure = {};  // of a submitted run, not yet reported
  };
  struct Release {
    Lanes* lanes;
    void operator()(Slot* slot) const;
  };
  using Hold = std::unique_ptr<Slot, Release>;

  /// A lane for a call of this thread; waits if all are in use. With `first` the first
  /// lane, which calls get in order.
  Hold hold(bool first);
  /// The first lane, after all runs, and with the other lanes' memory for tiles freed.
  Hold alone();
  /// The holder has submitted a run that uses this state.
  void add_pending(Slot& slot, std::shared_ptr<const void> uses);
  /// Waits for the submitted runs in a lane of the caller. Throws the failure of a run
  /// only if this thread has submitted one of them.
  void finish(Slot& slot);
  /// The same in all lanes with runs of this thread. With `all`, waits for all runs that
  /// have begun, and throws the failure of any submitted run.
  void finish(bool all);

 private:
  Hold take(Slot& slot, std::unique_lock<std::mutex> lock);
  Slot* suitable();

  std::mutex mutex_;  // held only to choose a lane
  std::condition_variable released_;
  std::array<Slot, most_lanes> slots_;
};

}  // namespace tilerail::api
