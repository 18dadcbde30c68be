#include "model/machine/graph_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "model/machine/shortest_paths.hpp"

namespace tilerail {

using Table = TopologyDefect::Table;

void check_routes(const Topology::Description& d, Defects& defects) {
  std::set<std::tuple<MemoryId, MemoryId, std::vector<LinkId>>> known;
  std::map<std::pair<MemoryId, MemoryId>, std::size_t> routes;
  for (const auto& route : d.routes) ++routes[{route.from, route.to}];
  each_entry(defects, d.routes.size(), [&](std::size_t i) {
    const auto& route = d.routes[i];
    if (route.from.index() >= d.memories.size() || route.to.index() >= d.memories.size())
      throw TopologyDefect{Table::route, i, "route: it names a memory that is missing"};
    const auto& from = d.memories[route.from.index()];
    const auto& to = d.memories[route.to.index()];
    const Entry entry{Table::route, i, fmt::format("route '{}' to '{}'", from.name, to.name)};
    entry.require(route.from != route.to, "it leads from a memory to itself; expected two memories");
    entry.require(known.emplace(route.from, route.to, route.links).second,
                  "there is another one of the same links; expected other links");
    entry.require_in(TopologyLimits::share, route.share, "share");
    if (route.links.empty()) {
      entry.require(routes[{route.from, route.to}] == 1,
                    "it has no links, and the pair has another route; expected links, or no other route");
      return;
    }
    std::set<NodeId> visited{from.node};
    NodeId at = from.node;
    for (std::size_t l = 0; l < route.links.size(); ++l) {
      entry.require(route.links[l].index() < d.links.size(), "it names a link that is missing");
      const Link& link = d.links[route.links[l].index()];
      if (link.from != at)
        entry.fail(fmt::format("its link from '{}' does not connect; expected one from '{}'",
                               d.nodes[link.from.index()].name, d.nodes[at.index()].name));
      at = link.to;
      if (!visited.insert(at).second)
        entry.fail(fmt::format("it visits '{}' twice; expected once", d.nodes[at.index()].name));
      if (l + 1 < route.links.size() && d.nodes[at.index()].kind != NodeKind::network_switch)
        entry.fail(fmt::format("it passes through memory '{}'; expected switches only", d.nodes[at.index()].name));
    }
    if (at != to.node)
      entry.fail(fmt::format("its last link ends at '{}'; expected '{}'", d.nodes[at.index()].name, to.name));
  });
}

namespace {

/// By node: whether links join it with a host, from the end `near` of each to its end `far`, through switches only.
std::vector<bool> joined_with_hosts(const Topology::Description& d, NodeId Link::*near, NodeId Link::*far) {
  std::vector<std::vector<NodeId>> next(d.nodes.size());
  for (const Link& link : d.links) next[(link.*near).index()].push_back(link.*far);
  std::vector<bool> joined(d.nodes.size(), false);
  std::vector<NodeId> to_leave;
  for (const Memory& memory : d.memories)
    if (memory.kind == NodeKind::host) to_leave.push_back(memory.node);
  while (!to_leave.empty()) {
    const NodeId at = to_leave.back();
    to_leave.pop_back();
    for (const NodeId node : next[at.index()]) {
      if (joined[node.index()]) continue;
      joined[node.index()] = true;
      if (d.nodes[node.index()].kind == NodeKind::network_switch) to_leave.push_back(node);
    }
  }
  return joined;
}

}  // namespace

namespace {

/// Of parts of copies: of all pairs so far.
class CommonParts {
 public:
  explicit CommonParts(const Topology::Description& d)
      : hosts_{std::ranges::count(d.memories, NodeKind::host, &Memory::kind)} {}

  /// Why copies of a pair cannot be split over so many ways and into so many parts; empty where they can.
  std::string add(std::size_t ways, std::int64_t parts) {
    if (ways > TopologyLimits::ways)
      return fmt::format("copies have more than {0} ways; expected at most {0}", TopologyLimits::ways);
    common_ = std::lcm(common_, parts);
    if (common_ > TopologyLimits::split_parts)
      return fmt::format(
          "copies are split into {} parts, of which and of other pairs' the common multiple is {}; "
          "expected at most {}",
          parts, common_, TopologyLimits::split_parts);
    if (common_ > 1 && common_ * hosts_ > TopologyLimits::split_parts_of_hosts)
      return fmt::format(
          "copies are split into {} parts, which for {} hosts have the common multiple {}; expected at "
          "most {}",
          parts, hosts_, common_ * hosts_, TopologyLimits::split_parts_of_hosts);
    return "";
  }

 private:
  std::int64_t hosts_, common_ = 1;
};

using Pair = std::pair<MemoryId, MemoryId>;

/// Copies of pairs that paths of equal length join are split by themselves.
std::string why_not_split(const Topology::Description& d, const std::set<Pair>& named, CommonParts& common) {
  ShortestPaths paths{d};
  for (std::size_t s = 0; s < d.memories.size(); ++s)
    for (std::size_t t = 0; t < d.memories.size(); ++t) {
      if (s == t || named.contains({MemoryId{s}, MemoryId{t}})) continue;
      const std::size_t ways = paths.all(MemoryId{s}, MemoryId{t}, TopologyLimits::ways + 1).size();
      if (ways < 2) continue;
      if (const auto why = common.add(ways, static_cast<std::int64_t>(ways)); !why.empty())
        return fmt::format("multipath: from '{}' to '{}' {}", d.memories[s].name, d.memories[t].name, why);
    }
  return "";
}

}  // namespace

void check_parts(const Topology::Description& d, Defects& defects) {
  struct OfPair {
    std::size_t ways = 0, last = 0;
    std::int64_t parts = 0, divisor = 0;
  };
  std::map<Pair, OfPair> pairs;
  for (std::size_t i = 0; i < d.routes.size(); ++i) {
    if (d.routes[i].links.empty()) continue;
    OfPair& routes = pairs[{d.routes[i].from, d.routes[i].to}];
    ++routes.ways, routes.last = i;
    routes.parts += d.routes[i].share;
    routes.divisor = std::gcd(routes.divisor, d.routes[i].share);
  }
  CommonParts common{d};
  std::set<Pair> named;
  for (const auto& route : d.routes) named.insert({route.from, route.to});
  for (const auto& [pair, routes] : pairs) {
    if (const auto why = common.add(routes.ways, routes.parts / routes.divisor); !why.empty()) {
      defects.push_back({Table::route, routes.last,
                         fmt::format("route '{}' to '{}': {}", d.memories[pair.first.index()].name,
                                     d.memories[pair.second.index()].name, why)});
      return;
    }
  }
  if (!d.split_paths) return;
  if (const auto why = why_not_split(d, named, common); !why.empty()) defects.push_back({Table::copies, 0, why});
}

void check_reachable(const Topology::Description& d, Defects& defects) {
  const auto from_hosts = joined_with_hosts(d, &Link::from, &Link::to);
  const auto to_hosts = joined_with_hosts(d, &Link::to, &Link::from);
  const std::size_t before = defects.size();
  each_entry(defects, d.memories.size(), [&](std::size_t i) {
    if (d.memories[i].kind != NodeKind::gpu) return;
    const Entry entry{Table::memory, i, fmt::format("memory '{}'", d.memories[i].name)};
    const std::size_t node = d.memories[i].node.index();
    entry.require(from_hosts[node], "unreachable memory; expected a path from a host to it");
    entry.require(to_hosts[node], "no path from it to a host; expected one");
  });
  for (std::size_t i = before; i < defects.size(); ++i) defects[i].of_structure = true;
}

}  // namespace tilerail
