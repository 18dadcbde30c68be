#include "model/machine/settings/parts_left.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// By old id: the new one of what stays.
template <class Id>
using Renumbered = std::vector<std::optional<Id>>;

/// Moves over what `stays(item)` and says where it went.
template <class Id, class Item, class Stays>
Renumbered<Id> keep(const std::vector<Item>& from, std::vector<Item>& to, const Stays& stays) {
  Renumbered<Id> ids(from.size());
  for (const auto i : indices(from)) {
    if (!stays(from[i], i)) continue;
    ids[i] = Id{to.size()};
    to.push_back(from[i]);
  }
  return ids;
}

std::vector<LinkId> renumbered(const std::vector<LinkId>& links, const Renumbered<LinkId>& ids) {
  std::vector<LinkId> left;
  for (const LinkId link : links)
    if (ids[link.index()]) left.push_back(*ids[link.index()]);
  return left;
}

/// The group of the links that stay; nothing when it bounds nothing.
std::optional<CapacityGroup> of_links_that_stay(CapacityGroup group, const Renumbered<LinkId>& ids) {
  group.forward = renumbered(group.forward, ids);
  group.backward = renumbered(group.backward, ids);
  if (group.forward.empty()) group.forward.swap(group.backward);
  if (group.backward.empty()) group.both_busy.reset(), group.forward_share.reset();
  if (group.forward.empty() || (!group.capacity && !group.both_busy)) return std::nullopt;
  return group;
}

/// Whether all links of a route stay.
bool stays(const Topology::Description::NamedRoute& route, const Renumbered<LinkId>& ids) {
  return std::ranges::all_of(route.links, [&](LinkId link) { return ids[link.index()].has_value(); });
}

}  // namespace

Topology::Description with_parts(const Topology::Description& machine, const std::function<bool(const Memory&)>& memory,
                                 const std::function<bool(LinkId)>& link) {
  std::vector<bool> node_goes(machine.nodes.size(), false);
  for (const Memory& each : machine.memories) node_goes[each.node.index()] = !memory(each);

  Topology::Description d = machine;
  d.nodes.clear(), d.memories.clear(), d.links.clear(), d.groups.clear(), d.routes.clear();
  const auto nodes = keep<NodeId>(machine.nodes, d.nodes, [&](const Node&, size_t i) { return !node_goes[i]; });
  const auto memories =
      keep<MemoryId>(machine.memories, d.memories, [&](const Memory& each, size_t) { return memory(each); });
  for (Memory& each : d.memories) each.node = *nodes[each.node.index()];
  const auto links = keep<LinkId>(machine.links, d.links, [&](const Link& each, size_t i) {
    return link(LinkId{i}) && nodes[each.from.index()] && nodes[each.to.index()];
  });
  for (Link& each : d.links) each.from = *nodes[each.from.index()], each.to = *nodes[each.to.index()];
  for (const CapacityGroup& group : machine.groups)
    if (const auto left = of_links_that_stay(group, links)) d.groups.push_back(*left);
  for (const auto& route : machine.routes)
    if (memories[route.from.index()] && memories[route.to.index()] && stays(route, links))
      d.routes.push_back({*memories[route.from.index()], *memories[route.to.index()], renumbered(route.links, links),
                          route.source, route.share});
  return d;
}

Topology::Description with_first_gpus(const Topology::Description& machine, size_t count) {
  std::vector<int> numbers;
  for (const Memory& memory : machine.memories)
    if (memory.kind == NodeKind::gpu) numbers.push_back(memory.device);
  std::ranges::sort(numbers);
  const auto stays = [&](const Memory& memory) {
    return memory.kind != NodeKind::gpu || memory.device <= numbers[count - 1];
  };
  return with_parts(machine, stays, [](LinkId) { return true; });
}

}  // namespace tilerail
