#include "model/machine/graph_check.hpp"

#include <fmt/format.h>

#include <set>

namespace tilerail {

using Table = TopologyDefect::Table;

void check_routes(const Topology::Description& d, Defects& defects) {
  std::set<std::pair<MemoryId, MemoryId>> pairs;
  each_entry(defects, d.routes.size(), [&](std::size_t i) {
    const auto& route = d.routes[i];
    if (route.from.index() >= d.memories.size() || route.to.index() >= d.memories.size())
      throw TopologyDefect{Table::route, i, "route: it names a memory that is missing"};
    const auto& from = d.memories[route.from.index()];
    const auto& to = d.memories[route.to.index()];
    const Entry entry{Table::route, i, fmt::format("route '{}' to '{}'", from.name, to.name)};
    entry.require(route.from != route.to, "it leads from a memory to itself; expected two memories");
    entry.require(pairs.emplace(route.from, route.to).second, "there is another one; expected one for each pair");
    entry.require(!route.links.empty(), "it has no links; expected at least one");
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
