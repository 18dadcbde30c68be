// Machine descriptions built in code: for graphs that need no file, and for machines with
// a parameter.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail::small_machine {

inline constexpr double giga = 1e9, micro = 1e-6;

/// A host, `gpus` GPUs named `gpu` and a number from 0, and switches, without links. All
/// GPUs have the kernel times kernels[0], without GEMMs. The only source is "s".
inline Topology::Description unlinked(const std::string& host, const std::string& gpu,
                                      int gpus,
                                      const std::vector<std::string>& switches) {
  Topology::Description d;
  d.name = "small";
  d.sources = {{"s", Source::Kind::assumed, "made up"}};
  KernelTimes kernels;
  kernels.name = "k";
  kernels.source = "s";
  d.kernels = {kernels};
  const auto add_memory = [&](const std::string& name, VertexKind kind, int device) {
    Memory memory;
    memory.name = name;
    memory.kind = kind;
    memory.vertex = VertexId{d.vertices.size()};
    if (device >= 0) memory.processor.emplace().device = device;
    memory.source = "s";
    d.vertices.push_back({name, kind, "s"});
    d.memories.push_back(memory);
  };
  add_memory(host, VertexKind::host, -1);
  for (int i = 0; i < gpus; ++i) add_memory(gpu + std::to_string(i), VertexKind::gpu, i);
  for (const std::string& name : switches)
    d.vertices.push_back({name, VertexKind::network_switch, "s"});
  return d;
}

/// A host named "h", `gpus` GPUs named "g0", "g1", ... and switches named "s0", "s1",
/// ..., without links.
inline Topology::Description memories_and_switches(int gpus, int switches) {
  std::vector<std::string> names;
  for (int i = 0; i < switches; ++i) names.push_back("s" + std::to_string(i));
  return unlinked("h", "g", gpus, names);
}

/// Adds a host after all memories.
inline void add_host(Topology::Description& d, const std::string& name) {
  Memory memory;
  memory.name = name, memory.kind = VertexKind::host;
  memory.vertex = VertexId{d.vertices.size()};
  memory.source = "s";
  d.vertices.push_back({name, VertexKind::host, "s"});
  d.memories.push_back(memory);
}

inline VertexId vertex(const Topology::Description& d, const std::string& name) {
  for (size_t i = 0; i < d.vertices.size(); ++i)
    if (d.vertices[i].name == name) return VertexId{i};
  throw std::logic_error{"no vertex " + name};
}

/// One direction, bandwidth in GB/s, latency in microseconds.
inline LinkId add_link(Topology::Description& d, const std::string& from,
                       const std::string& to, double bandwidth, double latency = 0) {
  Link link;
  link.from = vertex(d, from);
  link.to = vertex(d, to);
  link.bandwidth = Rate{bandwidth * giga};
  link.latency = Seconds{latency / 1e6};
  link.source = "s";
  d.links.push_back(link);
  return LinkId{d.links.size() - 1};
}

/// Both directions: the ids of from->to and to->from.
inline std::pair<LinkId, LinkId> add_links(Topology::Description& d,
                                           const std::string& from, const std::string& to,
                                           double bandwidth, double latency = 0) {
  const LinkId there = add_link(d, from, to, bandwidth, latency);
  return {there, add_link(d, to, from, bandwidth, latency)};
}

/// A group without limits.
inline CapacityGroup& add_group(Topology::Description& d, const std::string& name,
                                std::vector<LinkId> forward,
                                std::vector<LinkId> backward = {}) {
  CapacityGroup group;
  group.name = name, group.source = "s";
  group.forward = std::move(forward), group.backward = std::move(backward);
  d.groups.push_back(std::move(group));
  return d.groups.back();
}

/// GB/s by number of copies.
inline CapacityCurve capacity(std::initializer_list<std::pair<double, double>> points) {
  CapacityCurve curve;
  for (const auto& [copies, rate] : points)
    curve.points.push_back({copies, Rate{rate * giga}});
  return curve;
}
inline CapacityCurve capacity(double gigabytes_per_second) {
  return capacity({{1, gigabytes_per_second}});
}

/// GEMMs of one type with these rates in TFLOP/s by the side of a square.
inline GemmCurve gemms(DType dtype,
                       std::initializer_list<std::pair<double, double>> points) {
  GemmCurve curve;
  curve.dtype = dtype, curve.source = "s";
  for (const auto& [side, rate] : points)
    curve.points.push_back({side, FlopRate{rate * 1e12}});
  return curve;
}

inline MemoryId memory(const Topology& t, const std::string& name) {
  return t.find_memory(name).value();
}

/// Names of the links of the route, in order.
inline std::vector<std::string> route(const Topology& t, const std::string& from,
                                      const std::string& to) {
  std::vector<std::string> names;
  for (LinkId id : t.route(memory(t, from), memory(t, to)))
    names.push_back(t.link(id).name);
  return names;
}

inline std::vector<std::string> link_names_of(const Topology& machine) {
  std::vector<std::string> names;
  for (const Link& link : machine.links()) names.push_back(link.name);
  return names;
}

}  // namespace tilerail::small_machine
