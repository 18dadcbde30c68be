#include <algorithm>
#include <deque>

#include "cost/bound_program.hpp"
#include "model/base/contains.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr double infinity = LinearProgram::infinity;
constexpr double nothing = 1e-10;

/// Maximum flow by shortest augmenting paths (Edmonds and Karp), and the reachable
/// vertices.
class Flows {
 public:
  Flows(size_t vertices) : arcs_(vertices) {}

  void add(size_t from, size_t to, double room) {
    if (room > nothing) add_arc(from, to, room), add_arc(to, from, 0);
  }
  /// Augments all paths; returns by vertex whether the source still reaches it.
  std::vector<bool> fill(size_t source, size_t sink) {
    while (reaches(source, sink)) {
      double room = infinity;
      for (size_t v = sink; v != source; v = from(v))
        room = std::min(room, ends_[*last_[v]].room);
      for (size_t v = sink; v != source; v = from(v)) {
        ends_[*last_[v]].room -= room;
        ends_[*last_[v] ^ 1].room += room;
      }
    }
    std::vector<bool> reached(arcs_.size());
    for (const auto v : indices(arcs_)) reached[v] = v == source || last_[v];
    return reached;
  }

 private:
  struct End {
    size_t to;
    double room;
  };
  void add_arc(size_t from, size_t to, double room) {
    arcs_[from].push_back(ends_.size());
    ends_.push_back({to, room});
  }
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

  std::vector<std::vector<size_t>>
      arcs_;  // by vertex: indices in `ends_`; the reverse arc is next to it
  std::vector<End> ends_;
  std::vector<std::optional<size_t>> last_;  // by vertex: the arc that reached it
};

}  // namespace

BoundGraph::BoundGraph(const Topology& machine, std::span<const MemoryId> memories)
    : topology{machine} {
  for (const auto& vertex : topology.description().vertices)
    is_switch.push_back(vertex.kind == VertexKind::network_switch);
  out_of.resize(is_switch.size());
  into.resize(is_switch.size());
  std::vector<bool> takes_part = is_switch;
  for (const MemoryId memory : memories)
    takes_part[topology.memory(memory).vertex.index()] = true;
  for (const auto l : indices(topology.links())) {
    const size_t from = topology.links()[l].from.index(),
                 to = topology.links()[l].to.index();
    if (!takes_part[from] || !takes_part[to]) continue;
    out_of[from].push_back(links.size());
    into[to].push_back(links.size());
    links.push_back({LinkId{l}, from, to});
  }
}

BoundGraph::Cut BoundGraph::least_cut(const std::vector<double>& capacity,
                                      std::span<const End> sources,
                                      std::span<const End> sinks) const {
  const size_t vertices = is_switch.size(), source = vertices, sink = vertices + 1;
  Flows flows{vertices + 2};
  for (const auto l : indices(links)) flows.add(links[l].from, links[l].to, capacity[l]);
  for (const auto& [vertex, most] : sources) flows.add(source, vertex, most);
  for (const auto& [vertex, most] : sinks) flows.add(vertex, sink, most);
  Cut cut;
  cut.inside = flows.fill(source, sink);
  cut.inside.flip();
  cut.inside.resize(vertices);
  for (const auto l : indices(links))
    if (!cut.inside[links[l].from] && cut.inside[links[l].to]) {
      cut.links.push_back(l);
      cut.value += capacity[l];
    }
  for (const auto& [vertex, most] : sources)
    if (cut.inside[vertex]) cut.value += most;
  for (const auto& [vertex, most] : sinks)
    if (!cut.inside[vertex]) cut.value += most;
  return cut;
}

std::vector<double> BoundGraph::latencies(size_t vertex, bool back) const {
  std::vector<double> least(is_switch.size(), infinity);
  least[vertex] = 0;
  for (std::deque<size_t> next{vertex}; !next.empty(); next.pop_front())
    for (const size_t l : (back ? into : out_of)[next.front()]) {
      const size_t other = back ? links[l].from : links[l].to;
      const double over = least[next.front()] + topology.link(links[l].id).latency.value;
      if (!(over < least[other])) continue;
      least[other] = over;
      next.push_back(other);
    }
  return least;
}

double BoundGraph::copy_rate(Numbers from, Numbers to) const {
  const auto passes = [&](size_t vertex, Numbers ends) {
    return is_switch[vertex] || contains(ends, vertex);
  };
  std::vector<double> rate;
  for (const Link& link : links) {
    const tilerail::Link& l = topology.link(link.id);
    const Rate alone = std::min(l.bandwidth, l.per_flow.value_or(l.bandwidth));
    rate.push_back(passes(link.from, from) && passes(link.to, to) ? alone.value : 0);
  }
  std::vector<End> sources, sinks;
  for (const size_t vertex : from) sources.push_back({vertex, infinity});
  for (const size_t vertex : to) sinks.push_back({vertex, infinity});
  return least_cut(rate, sources, sinks).value;
}

bool BoundGraph::in_one_way(size_t first, size_t then) const {
  const Link &one = links[first], &other = links[then];
  if (first == then || one.from == other.to || !is_switch[one.to] ||
      !is_switch[other.from])
    return false;
  std::vector<bool> seen(is_switch.size());
  seen[one.to] = seen[one.from] = seen[other.to] = true;
  for (std::deque<size_t> next{one.to}; !next.empty(); next.pop_front()) {
    if (next.front() == other.from) return true;
    for (const size_t l : out_of[next.front()]) {
      const size_t to = links[l].to;
      if (seen[to] || !is_switch[to]) continue;
      seen[to] = true;
      next.push_back(to);
    }
  }
  return false;
}

}  // namespace tilerail
