#pragma once

#include <boost/container/small_vector.hpp>
#include <cmath>
#include <vector>

#include "cost/resources.hpp"

namespace tilerail {

/// When links and devices are free and, where the options say so, copy engines and
/// issuing threads, in seconds since the start of the plan: what the planner believes
/// about time while it plans, but for routing=link-map (model/published/link_map.hpp). A
/// copy counts as packed, whatever its columns.
///
/// Links per pair (thesis 4.2.4.2, the link availability matrix LAM):
///   eta = max(tile_eta[src], LAM[dst][src]) + latency + size / bandwidth(src -> dst)
/// Links per resource (ours): the same, and no earlier than any resource on the route
/// could have moved all bytes charged to it:
///   eta >= load_r + size / capacity_r,   then load_r grows by size / capacity_r.
/// Pairs that share a link or a capacity group thus see each other's traffic. The load
/// does not ask when the traffic runs: a write-back that starts late must not push away a
/// fetch that is planned after it but runs before it. docs/model.md#eta
///
/// In time: copies are charged when they are asked for, and a link without backlog has
/// nothing to catch up with:
///   eta >= max(load_r, start) + size / capacity_r
class Clock {
 public:
  struct Options {
    size_t devices = 0;
    bool per_link = false;  // charge every resource on the way, not the pair alone
    bool pressure =
        false;             // charge every resource on the way for Arrival::pressure alone
    bool engines = false;  // a copy also waits for an engine of its role (Engines of
                           // model/machine/topology.hpp)
    bool issue = false;    // a kernel also waits until its thread has handed it over
    bool in_time =
        false;  // what is charged happens in the order of charging, from `now` on
  };

  Clock(const Resources& resources, const Topology& topology, const Options& options);

  /// Arrival at the far end of the first and of the last of `chunks` equal pieces.
  struct Arrival {
    Seconds first, last;
    Seconds pair;         // of the last piece, if only pairs counted
    double pressure = 0;  // how loaded the resources on the way are: sum of load_r size /
                          // capacity_r, in s^2
    Seconds start{0};     // of the first piece, where it is sent
  };

  /// From memory to memory, looked up once for whoever asks several things of it.
  struct Hop {
    MemoryId src, dst;
    const Resources::Way* way;

    /// Whether there is a route.
    bool exists() const { return std::isfinite(way->per_byte.value); }
  };
  Hop hop(MemoryId src, MemoryId dst) const {
    return {src, dst, &resources_.way(src, dst)};
  }

  /// When `size` in `chunks` pieces would arrive if sent now; the pieces are at the
  /// source from `available`.
  Arrival estimate(const Hop& hop, Bytes size, int chunks,
                   const Arrival& available) const;
  /// Charges that transfer to its pair and its resources.
  void commit(const Hop& hop, Bytes size, const Arrival& arrival);

  /// What was before a transfer was charged.
  struct Undo {  // NOLINT(bugprone-exception-escape): numbers are moved without
                 // exceptions
    Hop hop;
    Seconds pair_free;
    boost::container::small_vector<Seconds, 4> engines;
    boost::container::small_vector<Seconds, 12> loads;  // links and groups of most routes
  };
  /// Charges a transfer to try it; `take_back` the last one first.
  Undo try_out(const Hop& hop, Bytes size, const Arrival& arrival);
  void take_back(const Undo& undo);

  /// In time: nothing starts before this any more.
  void set_now(Seconds now) { now_ = now; }
  Seconds now() const { return now_; }

  /// When the kernels of a device so far have ended.
  Seconds device_free(size_t device) const { return device_free_[device]; }
  /// A kernel that could start at `ready` runs after those before it. Returns its end.
  Seconds run_kernel(size_t device, Seconds ready, Seconds duration);

 private:
  Seconds pair_free(const Hop& hop) const {
    const std::vector<Seconds>& row = pair_free_[hop.src.index()];
    return row.empty() ? Seconds{0} : row[hop.dst.index()];
  }
  void set_pair_free(const Hop& hop, Seconds free);
  /// When a resource has moved `busy` seconds' worth of bytes that come from `start` on.
  Seconds moved(const Resources::Use& use, Seconds start, Bytes size) const {
    const Seconds behind = load_[use.resource];
    return (options_.in_time ? std::max(behind, start) : behind) + size * use.per_byte;
  }
  bool has_loads() const { return options_.per_link || options_.pressure; }
  /// Which of `engines_` a copy may use.
  size_t engines_of(const Hop& hop) const;

  const Resources& resources_;
  const Topology& topology_;
  Options options_;
  Seconds now_;
  std::vector<std::vector<Seconds>>
      pair_free_;  // by source and destination; empty until something leaves the source
  std::vector<Seconds> load_;                  // by resource
  std::vector<Seconds> device_free_, issued_;  // by device
  // By memory and role: when each engine is free; empty: any number. Behind them no
  // engines, for what needs none.
  std::vector<std::vector<Seconds>> engines_;
};

}  // namespace tilerail
