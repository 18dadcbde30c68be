#include "model/shared_links.hpp"

#include <algorithm>
#include <limits>

namespace tilerail {

SharedLinks::SharedLinks(const LinkMap& map, std::span<const MemoryId> candidates, std::span<const MemoryId> read,
                         std::span<const MemoryId> written, double bytes, int max_hops)
    : map_{map},
      candidates_{candidates.size()},
      bytes_{bytes},
      max_hops_{max_hops},
      node_of_(map.memories(), std::numeric_limits<Node>::max()) {
  for (const MemoryId candidate : candidates) add_node(candidate);
  for (const auto places : {read, written})
    for (const MemoryId place : places) {
      const Node node = add_node(place);
      if (std::find(operand_nodes_.begin(), operand_nodes_.end(), node) == operand_nodes_.end())
        operand_nodes_.push_back(node);
    }
  is_read_.resize(nodes_.size()), is_written_.resize(nodes_.size());
  for (const MemoryId place : read) is_read_[node_of_[place.index()]] = true;
  for (const MemoryId place : written) is_written_[node_of_[place.index()]] = true;
  routes_.resize(nodes_.size() * nodes_.size()), hops_.resize(routes_.size());
  measure_excess(read, written);
}

SharedLinks::Node SharedLinks::add_node(MemoryId memory) {
  Node& node = node_of_[memory.index()];
  if (node == std::numeric_limits<Node>::max()) node = nodes_.size(), nodes_.push_back(memory);
  return node;
}

void SharedLinks::measure_excess(std::span<const MemoryId> read, std::span<const MemoryId> written) {
  excess_.assign(nodes_.size() * nodes_.size() * candidates_, 0.0);
  std::vector<std::vector<MemoryPair>> used(candidates_);
  for (std::size_t c = 0; c < candidates_; ++c) {
    const auto use = [&](MemoryPair pair) {
      const bool known = std::find(used[c].begin(), used[c].end(), pair) != used[c].end();
      if (pair.src != pair.dst && map_.has(pair) && !known) used[c].push_back(pair);
    };
    for (const MemoryId place : read) use({place, nodes_[c]});
    for (const MemoryId place : written) use({nodes_[c], place});
  }
  for (Node src = 0; src < nodes_.size(); ++src)
    for (Node dst = 0; dst < nodes_.size(); ++dst) {
      const MemoryPair link{nodes_[src], nodes_[dst]};
      if (src == dst || !map_.has(link)) continue;
      for (std::size_t c = 0; c < candidates_; ++c)
        for (const MemoryPair by : used[c])
          if (by != link) excess_[at(src, dst) * candidates_ + c] += map_.slowdown(link, by) - 1;
    }
}

void SharedLinks::activate(std::span<const std::size_t> active) {
  ends_.assign(active.begin(), active.end());
  for (const Node node : operand_nodes_)
    if (std::find(ends_.begin(), ends_.end(), node) == ends_.end()) ends_.push_back(node);
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      double slower = 1;
      for (const std::size_t c : active) slower += excess_[at(src, dst) * candidates_ + c];
      const MemoryPair link{nodes_[src], nodes_[dst]};
      const double shared = in_use(src, dst, active) ? 1 : 0;
      const double alone = map_.seconds_per_byte(link);
      routes_[at(src, dst)] = {slower * alone, map_.latency(link)};
      hops_[at(src, dst)] = {(slower + shared) * alone, map_.latency(link)};
    }
  series_ = hops_;
  for (int hop = 0; hop < max_hops_; ++hop) allow_one_more_hop(active);
}

bool SharedLinks::in_use(Node src, Node dst, std::span<const std::size_t> active) const {
  const auto is_active = [&](Node node) { return std::binary_search(active.begin(), active.end(), node); };
  return (is_read_[src] && is_active(dst)) || (is_written_[dst] && is_active(src));
}

void SharedLinks::allow_one_more_hop(std::span<const std::size_t> active) {
  const std::vector<Route> shorter = series_;
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      if (src == dst) continue;
      Route& best = series_[at(src, dst)];
      double least = std::numeric_limits<double>::infinity();
      for (const Node via : active) {
        if (via == src || via == dst) continue;
        const Route &first = shorter[at(src, via)], &last = hops_[at(via, dst)];
        const double both = seconds(first) + seconds(last);
        if (!(both < least)) continue;
        least = both;
        best = first;
        best.per_byte += last.per_byte, best.latency += last.latency;
        best.via[static_cast<std::size_t>(best.hops++)] = static_cast<std::uint8_t>(via);
      }
      if (least < seconds(routes_[at(src, dst)])) routes_[at(src, dst)] = best;
    }
}

std::vector<MemoryId> SharedLinks::hops(MemoryId src, MemoryId dst) const {
  const Route& r = route(src, dst);
  std::vector<MemoryId> memories;
  for (int hop = 0; hop < r.hops; ++hop) memories.push_back(nodes_[r.via[static_cast<std::size_t>(hop)]]);
  return memories;
}

}  // namespace tilerail
