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
  direct_.resize(nodes_.size() * nodes_.size());
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
      direct_[at(src, dst)] = {slower * map_.seconds_per_byte(link), map_.latency(link)};
    }
  routes_ = direct_;
  for (int hop = 0; hop < max_hops_; ++hop) allow_one_more_hop(active);
}

void SharedLinks::allow_one_more_hop(std::span<const std::size_t> active) {
  const std::vector<Route> shorter = routes_;
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      if (src == dst) continue;
      Route& best = routes_[at(src, dst)];
      double least = seconds(best);
      for (const Node via : active) {
        if (via == src || via == dst) continue;
        const Route &first = shorter[at(src, via)], &last = direct_[at(via, dst)];
        const double series = seconds(first) + seconds(last);
        if (!(series < least)) continue;
        least = series;
        best = first;
        best.per_byte += last.per_byte, best.latency += last.latency;
        best.via[static_cast<std::size_t>(best.hops++)] = static_cast<std::uint8_t>(via);
      }
    }
}

std::vector<MemoryId> SharedLinks::hops(MemoryId src, MemoryId dst) const {
  const Route& r = route(src, dst);
  std::vector<MemoryId> memories;
  for (int hop = 0; hop < r.hops; ++hop) memories.push_back(nodes_[r.via[static_cast<std::size_t>(hop)]]);
  return memories;
}

}  // namespace tilerail
