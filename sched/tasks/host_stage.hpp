#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Whether a copy from GPU to GPU goes over a host by this rule: where both have routes from and to one. `of_home`: a
/// tile's home is at one end.
bool goes_over_host(const Topology& topology, PeerCopies which, MemoryId src, MemoryId dst, bool of_home);

/// Whether such a copy, both of whose ways are in use at once, is faster than a direct one, or there is no direct one.
bool faster_over_host(const Topology& topology, MemoryId src, MemoryId dst);

/// Copies from GPU to GPU over a buffer on a host, as drivers make them where GPUs have no access to each other: a tile
/// goes in pieces, each of which leaves the buffer while the next one enters it. All of them, or those alone that start
/// or end in a user's matrix. docs/model.md#staged-copies
class HostStage {
 public:
  /// `builder` has to outlive it.
  HostStage(const Topology& topology, PlanBuilder& builder, PeerCopies which)
      : topology_{topology}, builder_{builder}, which_{which} {}

  bool takes(MemoryId src, MemoryId dst, bool of_home) const {
    return goes_over_host(topology_, which_, src, dst, of_home);
  }

  /// When a copy may start and enter its end.
  struct When {
    Deps leave, enter;         // what its first piece waits for at the source, and at the destination
    Clock::Arrival available;  // at the source
    int queue = 0;             // number of the queue from the host
  };
  struct Copied {
    OpId first, last;  // that brought its first and its last piece
    OpId left;         // after which the source is free
    Clock::Arrival arrival;
  };
  /// Of many pieces: that of the slower way.
  SecondsPerByte per_byte(const Clock& clock, MemoryId src, MemoryId dst) const;
  /// When a tile of this shape that is at `src` would be at `dst` if it was sent now.
  Clock::Arrival arrival(const PlanContext& context, MemoryId src, MemoryId dst, const View& tile,
                         const Clock::Arrival& available) const;
  /// Copies a whole tile on behalf of a device, in `chunks` pieces.
  Copied copy(PlanContext& context, std::size_t device, const View& from, const View& to, When when);

  /// Adds to what the plan says of tiles in hosts.
  void note_peaks(Plan& plan) const;

 private:
  /// A piece of a host's memory, and what last used it.
  struct Room {
    std::int64_t offset = 0, bytes = 0;
    LastUses former;
  };
  static int pieces(const PlanContext& context, const View& tile);
  Room take(MemoryId host, std::size_t device, std::int64_t bytes);

  const Topology& topology_;
  PlanBuilder& builder_;
  PeerCopies which_;
  std::map<MemoryId, std::int64_t> used_;                               // bytes of each host
  std::map<std::pair<MemoryId, std::size_t>, std::deque<Room>> rooms_;  // by host and device, used longest ago first
};

}  // namespace tilerail
