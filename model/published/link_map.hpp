#pragma once

#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// From one memory to another.
struct MemoryPair {
  MemoryId src, dst;
  friend auto operator<=>(MemoryPair, MemoryPair) = default;
};

/// How many times as long a copy takes while one runs between another pair, at least 1: max-min fair sharing of what
/// their routes share, in closed form for two copies. Both pairs have routes.
double pair_slowdown(const Topology& topology, MemoryPair of, MemoryPair by);

/// A machine as PARALiA sees it: every memory joined with every other by a link of its own, with latency, bandwidth
/// and a slowdown for each other link that is used at the same time. Source: thesis 3.2.2, 3.2.4.
class LinkMap {
 public:
  /// What a byte takes between memories that nothing joins.
  static constexpr SecondsPerByte no_way{std::numeric_limits<double>::infinity()};
  /// Slowdowns are taken as no more than this: a bandwidth halved.
  static constexpr double most_slowdown = 2;

  /// The one limit of link maps, and so of routing=link-map, select and relays: a map has a row and a column for every
  /// memory, and routes over devices compare every pair with every device.
  static constexpr size_t most_memories = 1024;

  /// From a machine's routes. Keeps a reference to `topology`. Throws InputError when it has too many memories.
  explicit LinkMap(const Topology& topology);

  /// Measured links and slowdowns; pairs that are not listed have no link, links no slowdown.
  struct Link {
    MemoryPair pair;
    Seconds latency;
    Rate bandwidth;
  };
  struct Slowdown {
    MemoryPair of, by;
    double factor;
  };
  LinkMap(size_t memories, std::span<const Link> links, std::span<const Slowdown> slowdowns);

  size_t memories() const { return count_; }
  bool has(MemoryPair pair) const { return per_byte(pair) < no_way; }
  Seconds latency(MemoryPair pair) const { return latency_[index(pair)]; }
  /// no_way where there is no link, 0 within a memory.
  SecondsPerByte per_byte(MemoryPair pair) const { return per_byte_[index(pair)]; }
  /// From 1 to most_slowdown.
  double slowdown(MemoryPair of, MemoryPair by) const;
  /// The machine whose routes these are; null for measured links.
  const Topology* topology() const { return topology_; }

 private:
  explicit LinkMap(size_t memories);
  size_t index(MemoryPair pair) const { return pair.src.index() * count_ + pair.dst.index(); }

  size_t count_;
  std::vector<Seconds> latency_;
  std::vector<SecondsPerByte> per_byte_;
  const Topology* topology_ = nullptr;            // of slowdowns
  std::unordered_map<size_t, double> slowdowns_;  // measured ones, by index(of) * count^2 + index(by)
};

}  // namespace tilerail
