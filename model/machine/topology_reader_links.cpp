#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/machine/topology_reader.hpp"

namespace tilerail {

NodeId TopologyReader::node(const TomlValue& name) const {
  const auto known = nodes_.find(name.text());
  if (known == nodes_.end()) name.fail("is no node; expected the name of a memory or switch");
  return known->second;
}

MemoryId TopologyReader::memory(const TomlValue& name) const {
  const std::string text = name.text();
  for (std::size_t i = 0; i < d_.memories.size(); ++i)
    if (d_.memories[i].name == text) return MemoryId{i};
  name.fail("is no memory; expected the name of one");
}

LinkId TopologyReader::link(const TomlValue& name) const {
  const auto known = links_.find(name.text());
  if (known == links_.end()) name.fail("is a missing link; expected \"from->to\" of a [[link]]");
  return known->second;
}

std::vector<LinkId> TopologyReader::links(const TomlValue& names) const {
  std::vector<LinkId> result;
  for (const TomlValue& name : names.list(TopologyLimits::links)) result.push_back(link(name));
  return result;
}

/// One name, or a list of different ones.
std::vector<NodeId> TopologyReader::nodes(const TomlValue& names) const {
  if (names.is_text()) return {node(names)};
  std::vector<NodeId> result;
  std::set<NodeId> seen;
  for (const TomlValue& name : names.list(TopologyLimits::nodes)) {
    result.push_back(node(name));
    if (!seen.insert(result.back()).second) name.fail("is listed twice; expected it once");
  }
  if (result.empty()) names.fail("is empty; expected at least one name");
  return result;
}

/// Adds a link for every pair of a name in `from` and one in `to`. A name is not linked to itself, and each direction
/// is added once.
void TopologyReader::read_links(TomlTable& table) {
  table.allow_only({"from", "to", "bandwidth", "latency", "per_flow", "both", "source"});
  const TomlValue from = table.need("from"), to = table.need("to");
  const auto sources = nodes(from), targets = nodes(to);
  if (sources.size() == 1 && targets == sources) to.fail("is where the link comes from; expected another node");
  const auto first = d_.nodes[sources.front().index()].name, last = d_.nodes[targets.front().index()].name;
  table.rename("link " +
               in_quotes(first + (sources.size() > 1 ? ",...->" : "->") + last + (targets.size() > 1 ? ",..." : "")));

  Link link;
  link.bandwidth = table.need("bandwidth").rate(TopologyLimits::rate);
  link.latency = table.need("latency").seconds(TopologyLimits::latency);
  if (const auto per_flow = table.find("per_flow")) link.per_flow = per_flow->rate(TopologyLimits::rate);
  link.source = source_of(table);
  const auto both_value = table.find("both");
  const bool both = both_value && both_value->boolean();

  if (d_.links.size() + sources.size() * targets.size() * (both ? 2 : 1) > TopologyLimits::links)
    table.fail(fmt::format("too many links; expected at most {} in the file", TopologyLimits::links));
  std::set<std::pair<NodeId, NodeId>> added;
  const auto add = [&](NodeId a, NodeId b) {
    if (a == b || !added.emplace(a, b).second) return;
    link.from = a;
    link.to = b;
    d_.links.push_back(link);
    places_[TopologyDefect::Table::link].push_back(table.place());
  };
  for (NodeId a : sources)
    for (NodeId b : targets) {
      add(a, b);
      if (both) add(b, a);
    }
}

}  // namespace tilerail
