#include "model/published/shared_links.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tilerail {

SharedLinks::SharedLinks(const LinkMap& map, std::span<const MemoryId> candidates, std::span<const MemoryId> read,
                         std::span<const MemoryId> written, Bytes bytes, int max_hops, HopRule rule)
    : map_{map},
      candidates_{candidates.size()},
      bytes_{bytes},
      max_hops_{max_hops},
      rule_{rule},
      node_of_(map.memories(), std::numeric_limits<Node>::max()) {
  for (const MemoryId candidate : candidates) add_node(candidate);
  for (const auto places : {read, written})
    for (const MemoryId place : places) {
      const Node node = add_node(place);
      if (std::find(operand_nodes_.begin(), operand_nodes_.end(), node) == operand_nodes_.end())
        operand_nodes_.push_back(node);
    }
  const std::size_t links = nodes_.size() * nodes_.size();
  for (const MemoryId place : read) read_nodes_.push_back(node_of_[place.index()]);
  routes_.resize(links), series_.resize(links), later_.resize(links), users_.resize(links),
      excess_.assign(links * candidates_, 0.0);
  if (rule_ == HopRule::bottleneck) {
    measure_readers();
  } else {
    find_users(read, written);
    measure_excess();
  }
}

SharedLinks::Node SharedLinks::add_node(MemoryId memory) {
  Node& node = node_of_[memory.index()];
  if (node == std::numeric_limits<Node>::max()) node = nodes_.size(), nodes_.push_back(memory);
  return node;
}

/// With all candidates active and nothing running, each route is the one that a candidate would take alone.
void SharedLinks::find_users(std::span<const MemoryId> read, std::span<const MemoryId> written) {
  std::vector<std::size_t> all(candidates_);
  std::iota(all.begin(), all.end(), 0);
  activate(all);
  std::vector<std::vector<std::size_t>> users(users_.size());
  const auto use = [&](std::size_t candidate, MemoryId src, MemoryId dst) {
    if (src == dst || per_byte(src, dst) == LinkMap::no_way) return;
    Node at_node = node_of_[src.index()];
    std::vector<MemoryId> stops = hops(src, dst);
    stops.push_back(dst);
    for (const MemoryId stop : stops) {
      const Node next = node_of_[stop.index()];
      auto& of_link = users[at(std::exchange(at_node, next), next)];
      if (of_link.empty() || of_link.back() != candidate) of_link.push_back(candidate);
    }
  };
  for (std::size_t c = 0; c < candidates_; ++c) {
    for (const MemoryId place : read) use(c, place, nodes_[c]);
    for (const MemoryId place : written) use(c, nodes_[c], place);
  }
  users_ = std::move(users);
}

void SharedLinks::measure_excess() {
  for (Node src = 0; src < nodes_.size(); ++src)
    for (Node dst = 0; dst < nodes_.size(); ++dst) {
      const MemoryPair link{nodes_[src], nodes_[dst]};
      if (src == dst || !map_.has(link)) continue;
      for (Node a = 0; a < nodes_.size(); ++a)
        for (Node b = 0; b < nodes_.size(); ++b) {
          const auto& users = users_[at(a, b)];
          if (users.empty() || (a == src && b == dst)) continue;
          const double more = map_.slowdown(link, {nodes_[a], nodes_[b]}) - 1;
          for (const std::size_t c : users) excess_[at(src, dst) * candidates_ + c] += more;
        }
    }
}

void SharedLinks::measure_readers() {
  for (Node src = 0; src < nodes_.size(); ++src)
    for (Node dst = 0; dst < nodes_.size(); ++dst) {
      const MemoryPair link{nodes_[src], nodes_[dst]};
      if (src == dst || !map_.has(link)) continue;
      for (std::size_t c = 0; c < candidates_; ++c)
        for (const Node home : read_nodes_) {
          const MemoryPair by{nodes_[home], nodes_[c]};
          double& excess = excess_[at(src, dst) * candidates_ + c];
          if (home != c && by != link && map_.has(by)) excess = std::max(excess, map_.slowdown(link, by) - 1);
        }
    }
}

void SharedLinks::activate(std::span<const std::size_t> active) {
  ends_.assign(active.begin(), active.end());
  for (const Node node : operand_nodes_)
    if (std::find(ends_.begin(), ends_.end(), node) == ends_.end()) ends_.push_back(node);
  if (rule_ == HopRule::bottleneck) {
    share_with_readers(active);
    if (max_hops_ > 0) take_wider_ways(active);
    return;
  }
  share_with_all(active);
  for (int hop = 0; hop < max_hops_; ++hop) allow_one_more_hop(active);
}

void SharedLinks::share_with_all(std::span<const std::size_t> active) {
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      double slower = 1;
      for (const std::size_t c : active) slower += excess_[at(src, dst) * candidates_ + c];
      const MemoryPair link{nodes_[src], nodes_[dst]};
      const SecondsPerByte alone = map_.per_byte(link);
      const auto with_user = [&](Node user) {
        return Route{(slower + (uses(user, src, dst, active) ? 1 : 0)) * alone, map_.latency(link)};
      };
      routes_[at(src, dst)] = {slower * alone, map_.latency(link)};
      series_[at(src, dst)] = with_user(dst), later_[at(src, dst)] = with_user(src);
    }
}

void SharedLinks::share_with_readers(std::span<const std::size_t> active) {
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      const MemoryPair link{nodes_[src], nodes_[dst]};
      double excess = 0;
      for (const std::size_t c : active) excess = std::max(excess, excess_[at(src, dst) * candidates_ + c]);
      routes_[at(src, dst)] = {(1 + excess) * map_.per_byte(link), map_.latency(link)};
    }
}

void SharedLinks::take_wider_ways(std::span<const std::size_t> active) {
  const std::vector<Route> direct = routes_;
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      if (src == dst) continue;
      Route& best = routes_[at(src, dst)];
      for (const Node via : active) {
        if (via == src || via == dst) continue;
        const Route &first = direct[at(src, via)], &last = direct[at(via, dst)];
        const SecondsPerByte both = std::max(first.per_byte, last.per_byte) / bottleneck_worth;
        if (!(both < best.per_byte)) continue;
        best = {both, first.latency + last.latency, 1, {static_cast<std::uint8_t>(via)}};
      }
    }
}

bool SharedLinks::uses(Node user, Node src, Node dst, std::span<const std::size_t> active) const {
  const auto& users = users_[at(src, dst)];
  return std::binary_search(users.begin(), users.end(), user) && std::binary_search(active.begin(), active.end(), user);
}

void SharedLinks::allow_one_more_hop(std::span<const std::size_t> active) {
  const std::vector<Route> shorter = series_;
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      if (src == dst) continue;
      Route& best = series_[at(src, dst)];
      Seconds least{std::numeric_limits<double>::infinity()};
      for (const Node via : active) {
        if (via == src || via == dst) continue;
        const Route &first = shorter[at(src, via)], &last = later_[at(via, dst)];
        const Seconds both = time(first) + time(last);
        if (!(both < least)) continue;
        least = both;
        best = first;
        best.per_byte += last.per_byte, best.latency += last.latency;
        best.via[static_cast<std::uint8_t>(best.hops++)] = static_cast<std::uint8_t>(via);
      }
      if (least < time(routes_[at(src, dst)])) routes_[at(src, dst)] = best;
    }
}

std::vector<MemoryId> SharedLinks::hops(MemoryId src, MemoryId dst) const {
  const Route& r = route(src, dst);
  std::vector<MemoryId> memories;
  for (int hop = 0; hop < r.hops; ++hop) memories.push_back(nodes_[r.via[static_cast<std::size_t>(hop)]]);
  return memories;
}

}  // namespace tilerail
