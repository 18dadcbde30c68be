#include "model/machine/routes.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace tilerail {
namespace {

/// Whole picoseconds, so that equal paths compare equal whatever the order of their sums.
using Picoseconds = std::int64_t;
constexpr Picoseconds unreached = std::numeric_limits<Picoseconds>::max();

struct EdgeTime {
  Picoseconds time = 0;
};
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeTime>;

Picoseconds time_of(const Link& link) {
  constexpr Bytes typical{16 * 1024 * 1024};
  return std::llround(((typical / link.bandwidth) + link.latency).value * 1e12);
}

/// Every node is a vertex of the graph that links lead to. A memory has a second vertex that its links lead away from,
/// so that paths start and end at memories and never pass through one.
class RouteFinder {
 public:
  explicit RouteFinder(const Topology::Description& d) : d_{d}, departure_(d.nodes.size()), arriving_(d.nodes.size()) {
    for (std::size_t node = 0; node < d.nodes.size(); ++node) departure_[node] = node;
    for (std::size_t i = 0; i < d.memories.size(); ++i) departure_[d.memories[i].node.index()] = d.nodes.size() + i;

    std::vector<std::pair<std::size_t, std::size_t>> ends;
    std::vector<EdgeTime> times;
    for (std::size_t i = 0; i < d.links.size(); ++i) {
      const Link& link = d.links[i];
      ends.emplace_back(departure_[link.from.index()], link.to.index());
      times.push_back({time_of(link)});
      arriving_[link.to.index()].push_back(LinkId{i});
    }
    graph_ = Graph{boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), times.begin(),
                   d.nodes.size() + d.memories.size()};
  }

  /// Earliest arrival at every vertex, when leaving `src` at 0.
  std::vector<Picoseconds> arrivals(MemoryId src) const {
    std::vector<Picoseconds> arrival(num_vertices(graph_), unreached);
    boost::dijkstra_shortest_paths(
        graph_, departure_[node_of(src)],
        boost::weight_map(get(&EdgeTime::time, graph_))
            .distance_map(boost::make_iterator_property_map(arrival.begin(), get(boost::vertex_index, graph_)))
            .distance_inf(unreached));
    return arrival;
  }

  /// Walks back from `dst` over links that are on time, the lowest id first. Link times are above zero, so it ends.
  std::vector<LinkId> route(const std::vector<Picoseconds>& arrival, MemoryId src, MemoryId dst) const {
    std::vector<LinkId> links;
    if (src == dst || arrival[node_of(dst)] == unreached) return links;
    for (std::size_t node = node_of(dst); node != node_of(src);) {
      const auto on_time = [&](LinkId id) {
        const Link& link = d_.links[id.index()];
        const Picoseconds left = arrival[departure_[link.from.index()]];
        return left != unreached && left + time_of(link) == arrival[node];
      };
      const LinkId last = *std::find_if(arriving_[node].begin(), arriving_[node].end(), on_time);
      links.push_back(last);
      node = d_.links[last.index()].from.index();
    }
    std::reverse(links.begin(), links.end());
    return links;
  }

 private:
  std::size_t node_of(MemoryId memory) const { return d_.memories[memory.index()].node.index(); }

  const Topology::Description& d_;
  std::vector<std::size_t> departure_;         // by node: the vertex that its links lead away from
  std::vector<std::vector<LinkId>> arriving_;  // by node, ascending
  Graph graph_;
};

}  // namespace

std::vector<std::vector<LinkId>> resolved_routes(const Topology::Description& d) {
  const std::size_t count = d.memories.size();
  std::vector<std::vector<LinkId>> routes(count * count);
  const RouteFinder finder{d};
  for (std::size_t src = 0; src < count; ++src) {
    const auto arrival = finder.arrivals(MemoryId{src});
    for (std::size_t dst = 0; dst < count; ++dst)
      routes[src * count + dst] = finder.route(arrival, MemoryId{src}, MemoryId{dst});
  }
  for (const auto& named : d.routes) routes[named.from.index() * count + named.to.index()] = named.links;
  return routes;
}

}  // namespace tilerail
