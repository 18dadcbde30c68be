#include "model/machine/shortest_paths.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr LinkId no_link{-1};
constexpr int64_t unreached = std::numeric_limits<int64_t>::max();

struct EdgeTime {
  int64_t time = 0;
};

int64_t time_of(const Link& link) {
  constexpr Bytes typical{16 * 1024 * 1024};
  return std::llround(((typical / link.bandwidth) + link.latency).value * 1e12);
}

}  // namespace

/// Every node is a vertex of the graph that links lead to. A memory has a second vertex that its links lead away from.
class ShortestPaths::Graph {
 public:
  explicit Graph(const Topology::Description& d) : departure_(d.nodes.size()) {
    for (const auto node : indices(d.nodes)) departure_[node] = node;
    for (const auto i : indices(d.memories)) departure_[d.memories[i].node.index()] = d.nodes.size() + i;
    std::vector<std::pair<size_t, size_t>> ends;
    std::vector<EdgeTime> times;
    for (const Link& link : d.links) {
      ends.emplace_back(departure(link.from), link.to.index());
      times.push_back({time_of(link)});
    }
    graph_ = Edges{boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), times.begin(),
                   d.nodes.size() + d.memories.size()};
  }

  size_t departure(NodeId node) const { return departure_[node.index()]; }

  /// By node.
  std::vector<int64_t> arrivals(NodeId from) const {
    std::vector<int64_t> arrival(num_vertices(graph_), unreached);
    boost::dijkstra_shortest_paths(
        graph_, departure(from),
        boost::weight_map(get(&EdgeTime::time, graph_))
            .distance_map(boost::make_iterator_property_map(arrival.begin(), get(boost::vertex_index, graph_)))
            .distance_inf(unreached));
    arrival.resize(departure_.size());
    return arrival;
  }

 private:
  using Edges = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeTime>;

  std::vector<size_t> departure_;  // by node: the vertex that its links lead away from
  Edges graph_;
};

ShortestPaths::ShortestPaths(const Topology::Description& description)
    : d_{description},
      graph_{std::make_unique<Graph>(description)},
      into_(description.nodes.size()),
      last_links_(description.memories.size()),
      arrivals_(description.memories.size()) {
  for (const auto i : indices(d_.links)) into_[d_.links[i].to.index()].push_back(LinkId{i});
}

ShortestPaths::~ShortestPaths() = default;

std::vector<ShortestPaths::Picoseconds> ShortestPaths::arrivals(MemoryId src) const {
  return graph_->arrivals(d_.memories[src.index()].node);
}

/// Whether who takes it on a path of least time arrives at its end on such a path. Link times are above zero, so the
/// way back over such links ends at the source.
bool ShortestPaths::is_on_time(LinkId id, MemoryId src, const std::vector<Picoseconds>& arrival) const {
  const Link& link = d_.links[id.index()];
  const bool of_source = link.from.index() == node_of(src);
  const bool passes = d_.nodes[link.from.index()].kind == NodeKind::network_switch;
  const Picoseconds left = of_source ? 0 : passes ? arrival[link.from.index()] : unreached;
  return left != unreached && left + time_of(link) == arrival[link.to.index()];
}

std::vector<LinkId> ShortestPaths::last_links(MemoryId src) const {
  const auto arrival = arrivals(src);
  std::vector<LinkId> last(d_.nodes.size(), no_link);
  for (const auto i : indices(d_.links))
    if (LinkId& known = last[d_.links[i].to.index()]; known == no_link && is_on_time(LinkId{i}, src, arrival))
      known = LinkId{i};
  return last;
}

std::vector<LinkId> ShortestPaths::first(MemoryId src, MemoryId dst) {
  std::vector<LinkId> links;
  if (src == dst) return links;
  auto& last = last_links_[src.index()];
  if (last.empty()) last = last_links(src);
  for (size_t node = node_of(dst); node != node_of(src); node = d_.links[links.back().index()].from.index()) {
    if (last[node] == no_link) return {};
    links.push_back(last[node]);
  }
  std::ranges::reverse(links);
  return links;
}

std::vector<std::vector<LinkId>> ShortestPaths::all(MemoryId src, MemoryId dst, size_t most) {
  auto& arrival = arrivals_[src.index()];
  if (arrival.empty()) arrival = arrivals(src);
  std::vector<std::vector<LinkId>> paths;
  if (src == dst || arrival[node_of(dst)] == unreached) return paths;
  std::vector<LinkId> back;  // from the destination
  const std::function<void(size_t)> walk = [&](size_t node) {
    if (node == node_of(src)) {
      paths.emplace_back(back.rbegin(), back.rend());
      return;
    }
    for (const LinkId link : into_[node]) {
      if (paths.size() >= most) return;
      if (!is_on_time(link, src, arrival)) continue;
      back.push_back(link);
      walk(d_.links[link.index()].from.index());
      back.pop_back();
    }
  };
  walk(node_of(dst));
  return paths;
}

}  // namespace tilerail
