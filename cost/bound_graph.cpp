#include "cost/bound_graph.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing = 1e-10;

}  // namespace

BoundGraph::BoundGraph(const Topology& topology, std::span<const MemoryId> memories)
    : topology_{topology},
      is_switch_(topology.description().nodes.size()),
      out_(is_switch_.size()),
      in_(is_switch_.size()) {
  std::vector<bool> takes_part(is_switch_.size());
  for (const auto node : indices(is_switch_))
    takes_part[node] = is_switch_[node] = topology.description().nodes[node].kind == NodeKind::network_switch;
  for (const MemoryId memory : memories) takes_part[topology.memory(memory).node.index()] = true;
  for (size_t l = 0; l < topology.links().size(); ++l) {
    const Link link{LinkId{l}, topology.links()[l].from.index(), topology.links()[l].to.index()};
    if (!takes_part[link.from] || !takes_part[link.to]) continue;
    out_[link.from].push_back(links_.size()), in_[link.to].push_back(links_.size());
    links_.push_back(link);
  }
}

namespace {

/// Flows of most value by shortest ways that have room left (Edmonds and Karp), and what they reach.
class Flows {
 public:
  Flows(size_t nodes) : arcs_(nodes) {}

  void add(size_t from, size_t to, double room) {
    if (!(room > nothing)) return;
    arcs_[from].push_back(ends_.size()), ends_.push_back({to, room});
    arcs_[to].push_back(ends_.size()), ends_.push_back({from, 0});
  }
  /// Fills all ways; then, by node, whether the source still reaches it.
  std::vector<bool> fill(size_t source, size_t sink) {
    while (reaches(source, sink)) {
      double room = infinity;
      for (size_t v = sink; v != source; v = from(v)) room = std::min(room, ends_[*last_[v]].room);
      for (size_t v = sink; v != source; v = from(v)) ends_[*last_[v]].room -= room, ends_[*last_[v] ^ 1].room += room;
    }
    std::vector<bool> reached(arcs_.size());
    for (const auto v : indices(arcs_)) reached[v] = v == source || last_[v].has_value();
    return reached;
  }

 private:
  struct End {
    size_t to;
    double room;
  };
  size_t from(size_t v) const { return ends_[*last_[v] ^ 1].to; }
  bool reaches(size_t source, size_t sink) {
    last_.assign(arcs_.size(), std::nullopt);
    for (std::deque<size_t> next{source}; !next.empty(); next.pop_front())
      for (const size_t arc : arcs_[next.front()]) {
        const auto [to, room] = ends_[arc];
        if (to == source || last_[to] || !(room > nothing)) continue;
        last_[to] = arc;
        if (to == sink) return true;
        next.push_back(to);
      }
    return false;
  }

  std::vector<std::vector<size_t>> arcs_;  // by node: places in `ends_`; the way back is beside it
  std::vector<End> ends_;
  std::vector<std::optional<size_t>> last_;  // by node: the arc by which it was reached
};

}  // namespace

BoundGraph::Cut BoundGraph::least_cut(const std::vector<double>& capacity, std::span<const End> sources,
                                      std::span<const End> sinks) const {
  const size_t source = nodes(), sink = nodes() + 1;
  Flows flows{nodes() + 2};
  for (const auto l : indices(links_)) flows.add(links_[l].from, links_[l].to, capacity[l]);
  for (const End& end : sources) flows.add(source, end.node, end.most);
  for (const End& end : sinks) flows.add(end.node, sink, end.most);
  const std::vector<bool> reached = flows.fill(source, sink);
  Cut cut;
  for (size_t node = 0; node < nodes(); ++node) cut.inside.push_back(!reached[node]);
  for (const auto l : indices(links_))
    if (!cut.inside[links_[l].from] && cut.inside[links_[l].to]) cut.links.push_back(l), cut.value += capacity[l];
  for (const End& end : sources)
    if (cut.inside[end.node]) cut.value += end.most;
  for (const End& end : sinks)
    if (!cut.inside[end.node]) cut.value += end.most;
  return cut;
}

std::vector<double> BoundGraph::latencies(size_t node, bool back) const {
  std::vector<double> least(nodes(), infinity);
  least[node] = 0;
  for (std::deque<size_t> next{node}; !next.empty(); next.pop_front())
    for (const size_t l : back ? in_[next.front()] : out_[next.front()]) {
      const size_t other = back ? links_[l].from : links_[l].to;
      const double over = least[next.front()] + topology_.link(links_[l].id).latency.value;
      if (!(over < least[other])) continue;
      least[other] = over;
      next.push_back(other);
    }
  return least;
}

double BoundGraph::copy_rate(std::span<const size_t> from, std::span<const size_t> to) const {
  const auto is_in = [](std::span<const size_t> nodes, size_t node) {
    return std::ranges::find(nodes, node) != nodes.end();
  };
  std::vector<double> rate;
  for (const Link& link : links_) {
    const tilerail::Link& l = topology_.link(link.id);
    const bool passes =
        (is_switch_[link.from] || is_in(from, link.from)) && (is_switch_[link.to] || is_in(to, link.to));
    rate.push_back(passes ? std::min(l.bandwidth, l.per_flow.value_or(l.bandwidth)).value : 0);
  }
  std::vector<End> sources, sinks;
  for (const size_t node : from) sources.push_back({node, infinity});
  for (const size_t node : to) sinks.push_back({node, infinity});
  return least_cut(rate, sources, sinks).value;
}

bool BoundGraph::in_one_way(size_t first, size_t then) const {
  const Link &one = links_[first], &other = links_[then];
  if (first == then || one.from == other.to || !is_switch_[one.to] || !is_switch_[other.from]) return false;
  std::vector<bool> seen(nodes());
  seen[one.to] = seen[one.from] = seen[other.to] = true;
  for (std::deque<size_t> next{one.to}; !next.empty(); next.pop_front()) {
    if (next.front() == other.from) return true;
    for (const size_t l : out_[next.front()])
      if (const size_t to = links_[l].to; !seen[to] && is_switch_[to]) seen[to] = true, next.push_back(to);
  }
  return false;
}

}  // namespace tilerail
