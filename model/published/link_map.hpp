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

/// Slowdown of a copy while another pair copies, at least 1: max-min fair sharing of the
/// common parts of their routes, in closed form for two copies. Both pairs must have
/// routes.
double pair_slowdown(const Topology& topology, MemoryPair of, MemoryPair by);

/// A machine in PARALiA's model: every pair of memories has its own link, with latency,
/// bandwidth and a slowdown for each other link in simultaneous use. Source: thesis
/// 3.2.2, 3.2.4.
class LinkMap {
 public:
  /// Time per byte between unconnected memories.
  static constexpr SecondsPerByte no_way{std::numeric_limits<double>::infinity()};
  /// Upper limit of slowdowns: half the bandwidth.
  static constexpr double most_slowdown = 2;

  /// The only limit of link maps, and therefore of routing=link-map, devices=best and
  /// relays: a map has a row and a column for every memory, and routes over devices
  /// compare every pair with every device.
  static constexpr size_t most_memories = 1024;

  /// Builds the map from a machine's routes. Keeps a reference to `topology`. Throws
  /// InputError if the machine has too many memories.
  explicit LinkMap(const Topology& topology);

  /// Measured links and slowdowns. Unlisted pairs have no link, unlisted links no
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
  /// no_way without a link, 0 within a memory.
  SecondsPerByte per_byte(MemoryPair pair) const { return per_byte_[index(pair)]; }
  /// From 1 to most_slowdown.
  double slowdown(MemoryPair of, MemoryPair by) const;
  /// The machine of these routes; null for measured links.
  const Topology* topology() const { return topology_; }

 private:
  explicit LinkMap(size_t memories);
  size_t index(MemoryPair pair) const {
    return pair.src.index() * count_ + pair.dst.index();
  }

  size_t count_;
  std::vector<Seconds> latency_;
  std::vector<SecondsPerByte> per_byte_;
  const Topology* topology_ = nullptr;  // for slowdowns
  std::unordered_map<size_t, double>
      slowdowns_;  // measured, by index(of) * count^2 + index(by)
};

/// Rule for replacing a link by a series of links: a smaller sum of times (added), or a
/// much wider narrowest link, as in PARALiA's library (bottleneck).
enum class HopRule { added, bottleneck };

/// The links of a LinkMap while a set of devices works on operands in certain memories
/// (thesis 3.2.2).
///
/// Every active device is assumed to read from each read memory, and to write to each
/// written memory, all the time: over the links of the fastest route without load. A link
/// l that other such links a slow down by sl(l, a) keeps
///   shared bandwidth(l) =
///     bandwidth(l) / (1 + sum over active links a != l of (sl(l, a) - 1))
/// so that each of n copies through one full link gets 1 / n of it. (The thesis prints
/// the product of the bandwidth and the sum of the slowdowns, although a slowdown of 2
/// should halve the bandwidth.)
///
/// A link is then replaced by a series of links over up to `max_hops` active devices if
/// the sum of their times is smaller (store and forward). A link of the series that the
/// intermediate device uses itself takes 1 / bandwidth longer, because it is shared with
/// that device's own transfers. Ties prefer the direct link, then the lowest devices.
///
/// The above is HopRule::added. With HopRule::bottleneck (PARALiA's library) only the
/// worst case of reading counts,
///   shared bandwidth(l) = bandwidth(l) /
///     largest slowdown of l by a link from a read memory to an active device
/// and a link is replaced by two over one active device if bottleneck_worth of the
/// narrower one is wider: tiles are copied in pieces, so that both copies overlap. A
/// series over h devices counts with bottleneck_worth^h of its narrowest link. Links of
/// hosts are not replaced (a machine's host is known if the map is of a topology). The
/// widest series wins, then the lowest devices. (The library has series of two links
/// only.)
class SharedLinks {
 public:
  static constexpr int most_hops = 4;
  /// Effective share of the narrower link's bandwidth in a series of two links (PARALiA's
  /// library).
  static constexpr double bottleneck_worth = 0.8;

  /// `candidates`: devices that can be active. `bytes`: size of one transfer, to include
  /// latency in the choice of routes. `max_hops`: 0 to most_hops. Keeps a reference to
  /// `map`.
  SharedLinks(const LinkMap& map, std::span<const MemoryId> candidates,
              std::span<const MemoryId> read, std::span<const MemoryId> written,
              Bytes bytes, int max_hops, HopRule rule = HopRule::added);

  /// Activates the candidates with these ascending indices.
  void activate(std::span<const size_t> active);

  /// Time of a transfer along its route, between memories that are active or contain
  /// operands: per byte (LinkMap::no_way without a route, 0 within a memory), and
  /// latency.
  SecondsPerByte per_byte(MemoryId src, MemoryId dst) const {
    return route(src, dst).per_byte;
  }
  Seconds latency(MemoryId src, MemoryId dst) const { return route(src, dst).latency; }
  /// Intermediate memories of the route, in order.
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
  double slowdown(size_t link, std::span<const char> is_active) const;
  bool joins_a_host(Node src, Node dst) const;
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
      users_;  // by link: candidates that use it if active, ascending
  /// Slowdown of a link caused by a candidate: the sum of sl - 1 over the links that it
  /// uses, or the maximum over the links that it reads from.
  struct Excess {
    uint32_t candidate;
    double value;
  };
  std::vector<std::vector<Excess>>
      excess_;  // by link, zeros omitted; ascending candidates, or the largest first
  std::vector<Node> ends_;  // active candidates and memories with operands
  std::vector<Route> routes_;
  std::vector<Route> series_,
      later_;  // the best series so far, initially single links; links that can follow
};

}  // namespace tilerail
