#pragma once

#include <array>
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

/// How many times as long a copy takes while one runs between another pair, at least 1:
/// max-min fair sharing of what their routes share, in closed form for two copies. Both
/// pairs have routes.
double pair_slowdown(const Topology& topology, MemoryPair of, MemoryPair by);

/// A machine as PARALiA sees it: every memory joined with every other by a link of its
/// own, with latency, bandwidth and a slowdown for each other link that is used at the
/// same time. Source: thesis 3.2.2, 3.2.4.
class LinkMap {
 public:
  /// What a byte takes between memories that nothing joins.
  static constexpr SecondsPerByte no_way{std::numeric_limits<double>::infinity()};
  /// Slowdowns are taken as no more than this: a bandwidth halved.
  static constexpr double most_slowdown = 2;

  /// The one limit of link maps, and so of routing=link-map, select and relays: a map has
  /// a row and a column for every memory, and routes over devices compare every pair with
  /// every device.
  static constexpr size_t most_memories = 1024;

  /// From a machine's routes. Keeps a reference to `topology`. Throws InputError when it
  /// has too many memories.
  explicit LinkMap(const Topology& topology);

  /// Measured links and slowdowns; pairs that are not listed have no link, links no
  /// slowdown.
  struct Link {
    MemoryPair pair;
    Seconds latency;
    Rate bandwidth;
  };
  struct Slowdown {
    MemoryPair of, by;
    double factor;
  };
  LinkMap(size_t memories, std::span<const Link> links,
          std::span<const Slowdown> slowdowns);

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
  size_t index(MemoryPair pair) const {
    return pair.src.index() * count_ + pair.dst.index();
  }

  size_t count_;
  std::vector<Seconds> latency_;
  std::vector<SecondsPerByte> per_byte_;
  const Topology* topology_ = nullptr;  // of slowdowns
  std::unordered_map<size_t, double>
      slowdowns_;  // measured ones, by index(of) * count^2 + index(by)
};

/// Which series of links takes the place of a link: one whose times add up to less
/// (added), or one whose narrowest link is much wider, as PARALiA's library does
/// (bottleneck).
enum class HopRule { added, bottleneck };

/// The links of a LinkMap while a set of devices works on operands in certain memories
/// (thesis 3.2.2).
///
/// Every active device is taken to read from each memory that is read, and to write to
/// each that is written, all the time: over the links of the route that is the fastest
/// while nothing else runs. A link l that other such links a slow down by sl(l, a) is
/// left with
///   shared bandwidth(l) = bandwidth(l) / (1 + sum over active links a != l of (sl(l, a)
///   - 1))
/// so that n copies through one full link get 1 / n of it each. (The thesis prints the
/// product of the bandwidth and the sum of the slowdowns, where a slowdown of 2 is to
/// halve the bandwidth.)
///
/// Then a link is replaced by a series of links over up to `max_hops` active devices
/// where the sum of their times is less (store and forward). A link of the series that
/// the device on the way uses itself takes 1 / bandwidth longer: it is shared with that
/// device's own transfers. Of equal routes the direct link wins, then the lowest devices.
///
/// That is HopRule::added. With HopRule::bottleneck (PARALiA's library) only reading
/// counts and only its worst case,
///   shared bandwidth(l) = bandwidth(l) / largest slowdown of l by a link from a read
///   memory to an active device
/// and a link is replaced by two over one active device where bottleneck_worth of the
/// narrower one is wider: tiles go over it in pieces, so that its copies overlap. A
/// series over h devices counts with bottleneck_worth^h of its narrowest link. The widest
/// series wins, then the lowest devices. (The library has series of two links only.)
class SharedLinks {
 public:
  static constexpr int most_hops = 4;
  /// What a way of two links is worth of the bandwidth of the narrower one (PARALiA's
  /// library).
  static constexpr double bottleneck_worth = 0.8;

  /// `candidates`: devices that may be active. `bytes`: of one transfer, for what latency
  /// counts in choosing routes. `max_hops`: 0 to most_hops. Keeps a reference to `map`.
  SharedLinks(const LinkMap& map, std::span<const MemoryId> candidates,
              std::span<const MemoryId> read, std::span<const MemoryId> written,
              Bytes bytes, int max_hops, HopRule rule = HopRule::added);

  /// Takes candidates `active`, ascending indices, as active.
  void activate(std::span<const size_t> active);

  /// What a transfer takes along its route, between memories that are active or hold
  /// operands: for each byte (LinkMap::no_way where there is no route, 0 within a
  /// memory), and once.
  SecondsPerByte per_byte(MemoryId src, MemoryId dst) const {
    return route(src, dst).per_byte;
  }
  Seconds latency(MemoryId src, MemoryId dst) const { return route(src, dst).latency; }
  /// Memories that it visits between its ends, in order.
  std::vector<MemoryId> hops(MemoryId src, MemoryId dst) const;

 private:
  struct Route {
    SecondsPerByte per_byte{0};
    Seconds latency{0};
    uint16_t hops = 0;
    std::array<uint16_t, most_hops> via = {};  // nodes
  };
  static_assert(LinkMap::most_memories - 1 <= std::numeric_limits<uint16_t>::max());
  using Node = size_t;

  const Route& route(MemoryId src, MemoryId dst) const {
    return routes_[at(node_of_[src.index()], node_of_[dst.index()])];
  }
  size_t at(Node src, Node dst) const { return src * nodes_.size() + dst; }
  Node add_node(MemoryId memory);
  void find_users(std::span<const MemoryId> read, std::span<const MemoryId> written);
  void find_readers();
  void measure_excess();
  Seconds time(const Route& route) const {
    return route.latency + bytes_ * route.per_byte;
  }
  void share(std::span<const size_t> active);
  void allow_one_more_hop(std::span<const size_t> active, double worth);
  bool uses(Node user, Node src, Node dst, std::span<const size_t> active) const;

  const LinkMap& map_;
  size_t candidates_;
  Bytes bytes_;
  int max_hops_;
  HopRule rule_;
  std::vector<MemoryId> nodes_;  // candidates, then other memories with operands
  std::vector<Node> node_of_;    // by memory
  std::vector<Node> operand_nodes_, read_nodes_;
  std::vector<std::vector<size_t>>
      users_;  // by link: candidates that use it when active, ascending
  /// What a candidate adds to the time of a link: the sum of sl - 1 over the links that
  /// it would use, or the largest of those that it reads over.
  struct Excess {
    uint32_t candidate;
    double value;
  };
  std::vector<std::vector<Excess>>
      excess_;  // by link, candidates ascending; those that add nothing are left out
  std::vector<Node> ends_;  // as activated: active candidates and those with operands
  std::vector<Route> routes_;
  std::vector<Route> series_,
      later_;  // the best series so far, at first of one link; links that follow
};

}  // namespace tilerail
