#pragma once

#include <vector>

#include "cost/resources.hpp"

namespace tilerail {

/// The planner's estimate of when links are free, in seconds since the start of the plan.
///
/// Per pair (thesis 4.2.4.2, the link availability matrix LAM):
///   eta = max(tile_eta[src], LAM[dst][src]) + latency + size / bandwidth(src -> dst)
/// Per link (ours): the same, and no earlier than any resource on the route could have moved all bytes charged to it:
///   eta >= load_r + size / capacity_r,   then load_r grows by size / capacity_r.
/// Pairs that share a link or a capacity group thus see each other's traffic. The load does not ask when the traffic
/// runs: a write-back that starts late must not push away a fetch that is planned after it but runs before it.
/// docs/model.md#eta
class LinkClock {
 public:
  LinkClock(const Resources& resources, std::size_t memories, bool per_link)
      : resources_{resources},
        memories_{memories},
        per_link_{per_link},
        pair_free_(memories * memories, 0.0),
        load_(resources.count(), 0.0) {}

  /// Arrival at the far end of the first and of the last of `chunks` equal pieces.
  struct Arrival {
    double first = 0, last = 0;
    double pair = 0;      // of the last piece, if only pairs counted
    double pressure = 0;  // how loaded the resources on the way are: sum of load_r size / capacity_r
  };

  double seconds_per_byte(MemoryId src, MemoryId dst) const { return resources_.seconds_per_byte(src, dst); }

  /// When `bytes` in `chunks` pieces would arrive if sent now; the pieces are at src from `available`.
  Arrival estimate(MemoryId src, MemoryId dst, double bytes, int chunks, Arrival available) const;
  /// Charges that transfer to its pair and its resources.
  void commit(MemoryId src, MemoryId dst, double bytes, Arrival arrival);

  /// Everything that commits change, to try a chain of transfers and take it back.
  struct Undo {
    double pair_free;
    std::vector<double> loads;
  };
  Undo save(MemoryId src, MemoryId dst) const;
  void restore(MemoryId src, MemoryId dst, const Undo& undo);

 private:
  std::size_t pair(MemoryId src, MemoryId dst) const { return src.index() * memories_ + dst.index(); }

  const Resources& resources_;
  std::size_t memories_;
  bool per_link_;
  std::vector<double> pair_free_, load_;
};

}  // namespace tilerail
