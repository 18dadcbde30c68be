#include "model/machine/routes.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
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

}  // namespace

/// Every node is a vertex of the graph that links lead to. A memory has a second vertex that its links lead away from,
/// so that paths start and end at memories and never pass through one.
class Routes::Finder {
 public:
  explicit Finder(std::shared_ptr<const Topology::Description> description)
      : d_{std::move(description)},
        departure_(d_->nodes.size()),
        last_links_(d_->memories.size()),
        groups_of_(d_->links.size()) {
    for (std::size_t node = 0; node < d_->nodes.size(); ++node) departure_[node] = node;
    for (std::size_t i = 0; i < d_->memories.size(); ++i)
      departure_[d_->memories[i].node.index()] = d_->nodes.size() + i;

    std::vector<std::pair<std::size_t, std::size_t>> ends;
    std::vector<EdgeTime> times;
    for (const Link& link : d_->links) {
      ends.emplace_back(departure_[link.from.index()], link.to.index());
      times.push_back({time_of(link)});
    }
    graph_ = Graph{boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), times.begin(),
                   d_->nodes.size() + d_->memories.size()};
    for (const auto& named : d_->routes) named_[{named.from, named.to}] = &named.links;
    for (std::size_t i = 0; i < d_->groups.size(); ++i) {
      for (const LinkId link : d_->groups[i].forward) groups_of_[link.index()].push_back({GroupId{i}, true, false});
      for (const LinkId link : d_->groups[i].backward) groups_of_[link.index()].push_back({GroupId{i}, false, true});
    }
  }

  /// Not to be called by two threads at once.
  Route found(MemoryId src, MemoryId dst) {
    const auto named = named_.find({src, dst});
    Route route{named == named_.end() ? shortest(src, dst) : *named->second, {}};
    route.groups = groups_on(route.links);
    return route;
  }

 private:
  std::size_t node_of(MemoryId memory) const { return d_->memories[memory.index()].node.index(); }

  /// Walks back from `dst`.
  std::vector<LinkId> shortest(MemoryId src, MemoryId dst) {
    if (last_links_[src.index()].empty()) last_links_[src.index()] = last_links(src);
    std::vector<LinkId> links;
    if (src == dst) return links;
    for (std::size_t node = node_of(dst); node != node_of(src); node = d_->links[links.back().index()].from.index()) {
      const LinkId last = last_links_[src.index()][node];
      if (last == no_link) return {};
      links.push_back(last);
    }
    std::reverse(links.begin(), links.end());
    return links;
  }

  /// By node: of the links to it that are on time for who leaves `src` at 0, the one with the lowest id. Link times are
  /// above zero, so the way back from a node that is reached ends at `src`.
  std::vector<LinkId> last_links(MemoryId src) const {
    std::vector<Picoseconds> arrival(num_vertices(graph_), unreached);
    boost::dijkstra_shortest_paths(
        graph_, departure_[node_of(src)],
        boost::weight_map(get(&EdgeTime::time, graph_))
            .distance_map(boost::make_iterator_property_map(arrival.begin(), get(boost::vertex_index, graph_)))
            .distance_inf(unreached));
    std::vector<LinkId> last(d_->nodes.size(), no_link);
    for (std::size_t i = 0; i < d_->links.size(); ++i) {
      const Link& link = d_->links[i];
      const Picoseconds left = arrival[departure_[link.from.index()]];
      const std::size_t to = link.to.index();
      if (last[to] == no_link && left != unreached && left + time_of(link) == arrival[to]) last[to] = LinkId{i};
    }
    return last;
  }

  std::vector<Topology::GroupUse> groups_on(const std::vector<LinkId>& links) const {
    std::vector<Topology::GroupUse> uses;
    for (const LinkId link : links)
      for (const Topology::GroupUse& use : groups_of_[link.index()]) {
        auto known = std::ranges::find(uses, use.group, &Topology::GroupUse::group);
        if (known == uses.end()) known = uses.insert(uses.end(), {use.group, false, false});
        known->forward = known->forward || use.forward;
        known->backward = known->backward || use.backward;
      }
    std::ranges::sort(uses, {}, &Topology::GroupUse::group);
    return uses;
  }

  static constexpr LinkId no_link{-1};

  std::shared_ptr<const Topology::Description> d_;
  std::vector<std::size_t> departure_;  // by node: the vertex that its links lead away from
  Graph graph_;
  std::map<std::pair<MemoryId, MemoryId>, const std::vector<LinkId>*> named_;
  std::vector<std::vector<LinkId>> last_links_;             // by source; empty until a route from it is asked for
  std::vector<std::vector<Topology::GroupUse>> groups_of_;  // by link
};

Routes::Routes(std::shared_ptr<const Topology::Description> description)
    : routes_{description->memories.size()}, finder_{std::make_unique<Finder>(std::move(description))} {}

Routes::~Routes() = default;

// The table asks under its lock.
const Routes::Route& Routes::of(MemoryId src, MemoryId dst) const {
  return routes_.of(src, dst, [&] { return finder_->found(src, dst); });
}

}  // namespace tilerail
