#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sched/tasks/plan_context.hpp"
#include "sched/transport/pieces.hpp"

namespace tilerail {

/// Number of pieces of a tile: the policy's number, but at most its columns, and pieces
/// not below the policy's least size.
int pieces_of(const PlanContext& context, const View& tile);
/// The same for a tile on a route over `devices` devices: with the bottleneck rule,
/// several pieces whose copies overlap; else one piece.
int pieces_over(const PlanContext& context, const View& tile, size_t devices);

/// Adds the copies of tiles between memories: direct copies, and staged copies through a
/// host bounce buffer, as drivers make them if GPUs lack peer access. A staged tile is
/// cut in pieces; each leaves the buffer while the next enters it.
/// docs/model.md#staged-copies
class Copier {
 public:
  /// `context` must outlive this object.
  explicit Copier(PlanContext& context) : context_{context} {}

  struct Job {  // NOLINT(bugprone-exception-escape): Deps are moved without exceptions
    size_t device;  // on whose behalf
    View from, to;
    Deps leave = {}, enter = {};    // dependencies at the source and at the destination
    Clock::Arrival available = {};  // at the source
    int pieces = 1;  // of a direct copy; a single piece needs the whole tile
    int queue = 0;   // number of the copy queue, for staged copies of the last one
    std::optional<Pieces> before =
        {};  // brought the tile to the source: piece j depends on piece j
    std::optional<Clock::Arrival> arrival = {};  // absent: estimated
  };
  struct Result {
    Pieces pieces;  // copies that arrived
    OpId left;      // the operation after which the source is free
    Clock::Arrival arrival;
  };

  /// Arrival of a tile of this shape if sent now.
  Clock::Arrival arrival(const Leg& leg, const View& tile, int pieces,
                         Clock::Arrival available) const {
    if (pieces == 1) available.first = available.last;
    if (leg.host) return arrival_through_host(leg, tile, available);
    return context_.clock.estimate(context_.clock.hop(leg.src, leg.dst),
                                   context_.bytes(tile), pieces, available);
  }
  /// Adds the copies and charges them to the clock.
  Result copy(const Leg& leg, Job job);

  /// Adds the bounce buffers to the plan's tile memory. `tiles`: by MemoryId, the bytes
  /// before them, which tiles of a host's cores take.
  void note_peaks(Plan& plan, std::span<const int64_t> tiles) const;

 private:
  /// A piece of host memory, and its last uses.
  struct Room {
    int64_t offset = 0, bytes = 0;
    LastUses former;
  };
  Room take(MemoryId host, size_t device, int64_t bytes);
  int pieces_through_host(const View& tile) const;
  Clock::Arrival arrival_through_host(const Leg& leg, const View& tile,
                                      const Clock::Arrival& available) const;
  Result copy_direct(const Leg& leg, Job& job);
  Result copy_through_host(const Leg& leg, Job& job);

  PlanContext& context_;
  std::map<MemoryId, int64_t> used_;  // bytes of each host
  std::vector<BufferId> staged_;      // the bounce buffers
  std::map<std::pair<MemoryId, size_t>, std::deque<Room>>
      rooms_;  // by host and device, least recently used first
};

}  // namespace tilerail
