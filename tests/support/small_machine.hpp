// Descriptions built in code, for facts about the graph that no file is needed for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail::small_machine {

inline constexpr double giga = 1e9;

/// A host named "h", `gpus` GPUs named "g0", "g1", ... and switches named "s0", "s1", ...; no links yet.
inline Topology::Description memories_and_switches(int gpus, int switches) {
  Topology::Description d;
  d.name = "small";
  d.sources = {{"s", Source::Kind::assumed, "made up"}};
  KernelTimes kernels;
  kernels.name = "k";
  kernels.source = "s";
  d.kernels = {kernels};
  const auto add_memory = [&](const std::string& name, NodeKind kind, int device) {
    Memory memory;
    memory.name = name;
    memory.kind = kind;
    memory.node = NodeId{d.nodes.size()};
    memory.device = device;
    memory.source = "s";
    d.nodes.push_back({name, kind, "s"});
    d.memories.push_back(memory);
  };
  add_memory("h", NodeKind::host, -1);
  for (int i = 0; i < gpus; ++i) add_memory("g" + std::to_string(i), NodeKind::gpu, i);
  for (int i = 0; i < switches; ++i) d.nodes.push_back({"s" + std::to_string(i), NodeKind::network_switch, "s"});
  return d;
}

inline NodeId node(const Topology::Description& d, const std::string& name) {
  for (std::size_t i = 0; i < d.nodes.size(); ++i)
    if (d.nodes[i].name == name) return NodeId{i};
  throw std::logic_error{"no node " + name};
}

/// One direction, bandwidth in GB/s, latency in microseconds.
inline LinkId add_link(Topology::Description& d, const std::string& from, const std::string& to, double bandwidth,
                       double latency = 0) {
  Link link;
  link.from = node(d, from);
  link.to = node(d, to);
  link.bandwidth = Rate{bandwidth * giga};
  link.latency = Seconds{latency / 1e6};
  link.source = "s";
  d.links.push_back(link);
  return LinkId{d.links.size() - 1};
}

/// Both directions: the ids of from->to and to->from.
inline std::pair<LinkId, LinkId> add_links(Topology::Description& d, const std::string& from, const std::string& to,
                                           double bandwidth, double latency = 0) {
  const LinkId there = add_link(d, from, to, bandwidth, latency);
  return {there, add_link(d, to, from, bandwidth, latency)};
}

inline MemoryId memory(const Topology& t, const std::string& name) { return t.find_memory(name).value(); }

/// Names of the links of the route, in order.
inline std::vector<std::string> route(const Topology& t, const std::string& from, const std::string& to) {
  std::vector<std::string> names;
  for (LinkId id : t.route(memory(t, from), memory(t, to))) names.push_back(t.link(id).name);
  return names;
}

inline CapacityCurve capacity(double gigabytes_per_second) { return {{{1, Rate{gigabytes_per_second * giga}}}}; }

}  // namespace tilerail::small_machine
