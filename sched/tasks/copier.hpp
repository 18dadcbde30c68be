#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Into how many pieces a tile is cut: the number of the policy, never more than its
/// columns, nor pieces below the least size of the policy. A tile of 3 columns has at
/// most 3.
int pieces_of(const PlanContext& context, const View& tile);
/// The same for a tile that goes over so many devices: more than one piece by the
/// bottleneck rule only, so that its copies overlap; else one copy follows the other.
int pieces_over(const PlanContext& context, const View& tile, size_t devices);

/// The columns of piece j of a view that goes in so many. Of 10 columns in 4 pieces,
/// piece 1 has columns 2 to 4.
View piece(const View& whole, int j, int pieces);

/// Makes the copies of tiles from memory to memory: direct ones, and those through a
/// buffer on a host, as drivers make them if GPUs have no access to each other. There a
/// tile goes in pieces, each of which leaves the buffer while the next one enters it.
/// docs/model.md#staged-copies
class Copier {
 public:
  /// `context` has to outlive it.
  explicit Copier(PlanContext& context) : context_{context} {}

  /// The operations that brought a tile to where it is.
  struct Pieces {
    OpId first, last;
    int count() const { return last.value - first.value + 1; }
  };
  struct Job {  // NOLINT(bugprone-exception-escape): Deps are moved without exceptions
    size_t device;  // on whose behalf
    View from, to;
    Deps leave = {}, enter = {};    // waited for at the source, and at the destination
    Clock::Arrival available = {};  // at the source
    int pieces = 1;  // of a direct copy; with one, all of the tile must be there
    int queue = 0;   // number of the copy queue, of the last one through a host
    std::optional<Pieces> before =
        {};  // brought the tile to the source: piece j waits for piece j
    std::optional<Clock::Arrival> arrival = {};  // absent: estimated
  };
  struct Copied {
    Pieces pieces;  // that arrived
    OpId left;      // after which the source is free
    Clock::Arrival arrival;
  };

  /// When a tile of this shape would arrive if it was sent now.
  Clock::Arrival arrival(const Leg& leg, const View& tile, int pieces,
                         Clock::Arrival available) const;
  /// Adds the copies, and charges them to the clock.
  Copied copy(const Leg& leg, Job job);

  /// Adds the buffers on hosts to the tile memory of the plan.
  void note_peaks(Plan& plan) const;

 private:
  /// A piece of the memory of a host, and what last used it.
  struct Room {
    int64_t offset = 0, bytes = 0;
    LastUses former;
  };
  Room take(MemoryId host, size_t device, int64_t bytes);
  int pieces_through_host(const View& tile) const;
  Copied copy_direct(const Leg& leg, Job& job);
  Copied copy_through_host(const Leg& leg, Job& job);

  PlanContext& context_;
  std::map<MemoryId, int64_t> used_;  // bytes of each host
  std::map<std::pair<MemoryId, size_t>, std::deque<Room>>
      rooms_;  // by host and device, used longest ago first
};

}  // namespace tilerail
