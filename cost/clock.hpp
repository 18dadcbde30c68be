#pragma once

#include <boost/container/small_vector.hpp>
#include <cmath>
#include <vector>

#include "cost/resources.hpp"

namespace tilerail {

/// Times at which links and devices are free and, if the options ask for them, copy
/// engines and issuing threads, in seconds since the start of the plan. The planner's
/// clock, except for routing=link-map (model/published/link_map.hpp). Copies count as
/// packed, whatever their columns.
///
/// Links per pair (thesis 4.2.4.2, the link availability matrix LAM):
///   eta = max(tile_eta[src], LAM[dst][src]) + latency + size / bandwidth(src -> dst)
/// Links per resource (ours): the same, but no earlier than any resource on the route
/// could have moved all bytes charged to it:
///   eta >= load_r + size / capacity_r,   then load_r grows by size / capacity_r.
/// Pairs that share a link or a capacity group thus see each other's traffic. The load
/// ignores when the traffic runs: a late write-back must not delay a fetch that is
/// planned after it but runs before it. docs/model.md#eta
///
/// In time: copies are charged when they are requested, and a link without backlog starts
/// a copy immediately:
///   eta >= max(load_r, start) + size / capacity_r
class Clock {
 public:
  struct Options {
    size_t devices = 0;
    bool per_link = false;  // charge every resource on the path, not only the pair
    bool pressure =
        false;  // charge every resource on the path, for Arrival::pressure only
    bool engines = false;  // a copy also waits for an engine of its role (Engines of
                           // model/machine/topology.hpp)
    bool issue = false;    // a kernel also waits until its thread has submitted it
    bool in_time = false;  // charges are made in the order of execution, from `now` on
  };

  Clock(const Resources& resources, const Topology& topology, const Options& options);

  /// Arrival at the far end of the first and of the last of `chunks` equal pieces.
  struct Arrival {
    Seconds first, last;
    Seconds pair;         // of the last piece, if only pairs counted
    double pressure = 0;  // sum of (load_r + size / capacity_r) size / capacity_r, s^2
    Seconds start{0};     // of the first piece, at the source
  };

  /// A pair of memories with its path, looked up once for several queries.
  struct Hop {
    MemoryId src, dst;
    const Resources::PairCost* cost;

    /// Whether there is a route.
    bool exists() const { return std::isfinite(cost->per_byte.value); }
  };
  Hop hop(MemoryId src, MemoryId dst) const {
    return {src, dst, &resources_.pair_cost(src, dst)};
  }

  /// Arrival of `size` in `chunks` pieces if sent now; the pieces are at the source from
  /// `available`.
  Arrival estimate(const Hop& hop, Bytes size, int chunks,
                   const Arrival& available) const;
  /// Charges the transfer to its pair and its resources.
  void commit(const Hop& hop, Bytes size, const Arrival& arrival);

  /// State before a transfer was charged.
  struct Undo {  // NOLINT(bugprone-exception-escape): numbers are moved without
                 // exceptions
    Hop hop;
    Seconds pair_free;
    boost::container::small_vector<Seconds, 4> engines;
    boost::container::small_vector<Seconds, 12> loads;  // links and groups of most routes
  };
  /// Charges a transfer tentatively. `take_back` undoes the latest one first.
  Undo try_out(const Hop& hop, Bytes size, const Arrival& arrival);
  void take_back(const Undo& undo);

  /// In time: no later transfer starts before `now`.
  void set_now(Seconds now) { now_ = now; }
  Seconds now() const { return now_; }

  /// End of the device's kernels so far.
  Seconds device_free(size_t device) const { return device_free_[device]; }
  /// Runs a kernel that could start at `ready` after the earlier ones. Returns its end.
  Seconds run_kernel(size_t device, Seconds ready, Seconds duration);

 private:
  Seconds pair_free(const Hop& hop) const {
    const std::vector<Seconds>& row = pair_free_[hop.src.index()];
    return row.empty() ? Seconds{0} : row[hop.dst.index()];
  }
  void set_pair_free(const Hop& hop, Seconds free);
  /// When a resource has moved all its bytes, including `size` bytes that come from
  /// `start` on.
  Seconds moved(const Resources::Use& use, Seconds start, Bytes size) const {
    const Seconds behind = load_[use.resource];
    return (options_.in_time ? std::max(behind, start) : behind) + size * use.per_byte;
  }
  bool has_loads() const { return options_.per_link || options_.pressure; }
  /// Index into `engines_` for a copy.
  size_t engines_of(const Hop& hop) const;

  const Resources& resources_;
  const Topology& topology_;
  Options options_;
  Seconds now_;
  std::vector<std::vector<Seconds>> pair_free_;  // by source and destination; empty until
                                                 // the first transfer from the source
  std::vector<Seconds> load_;                    // by resource
  std::vector<Seconds> device_free_, issued_;    // by device
  // By memory and role: when each engine is free; empty: unlimited. The last entry is
  // empty, for copies that need no engine.
  std::vector<std::vector<Seconds>> engines_;
};

}  // namespace tilerail
