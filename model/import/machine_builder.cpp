#include "model/import/machine_builder.hpp"

#include <algorithm>

#include "model/import/assumptions.hpp"

namespace tilerail {

MachineBuilder::MachineBuilder(std::string name, std::string description, const GpuKind& kind) : kind_{kind} {
  d_.name = std::move(name);
  d_.description = std::move(description);
  d_.sources = kind.sources;
  d_.kernels = {kind.kernels};
  d_.strided = kind.strided;
  d_.issue = kind.issue;
}

void MachineBuilder::source(const std::string& key, Source::Kind kind, const std::string& text) {
  d_.sources.push_back({key, kind, text});
}

NodeId MachineBuilder::add_host(const std::string& name, const std::string& source) {
  Memory memory;
  memory.name = name;
  memory.kind = NodeKind::host;
  memory.node = NodeId{d_.nodes.size()};
  memory.source = source;
  d_.nodes.push_back({name, NodeKind::host, source});
  d_.memories.push_back(memory);
  return memory.node;
}

NodeId MachineBuilder::add_switch(const std::string& name, const std::string& source) {
  d_.nodes.push_back({name, NodeKind::network_switch, source});
  return NodeId{d_.nodes.size() - 1};
}

NodeId MachineBuilder::add_gpu(const std::string& name, int device, const std::string& source) {
  Memory memory = kind_.gpu;
  memory.name = name;
  memory.kind = NodeKind::gpu;
  memory.device = device;
  memory.kernels = 0;
  memory.node = NodeId{d_.nodes.size()};
  memory.source = source;
  d_.nodes.push_back({name, NodeKind::gpu, source});
  d_.memories.push_back(memory);
  return memory.node;
}

void MachineBuilder::link(NodeId from, NodeId to, Rate rate, Seconds latency, const std::string& source) {
  Link link;
  link.from = from, link.to = to;
  link.bandwidth = rate, link.latency = latency;
  link.source = source;
  d_.links.push_back(link);
}

void MachineBuilder::join(NodeId a, NodeId b, Rate rate, Seconds latency, const std::string& source) {
  link(a, b, rate, latency, source);
  link(b, a, rate, latency, source);
}

MemoryId MachineBuilder::memory_at(NodeId node) const {
  const auto memory = std::ranges::find(d_.memories, node, &Memory::node);
  return MemoryId{static_cast<std::size_t>(memory - d_.memories.begin())};
}

void MachineBuilder::link_peers(NodeId from, NodeId to, Rate rate, Seconds latency, const std::string& source) {
  link(from, to, rate, latency, source);
  route(from, to, {last_link()}, source);
}

void MachineBuilder::route(NodeId from, NodeId to, std::vector<LinkId> links, const std::string& source) {
  d_.routes.push_back({memory_at(from), memory_at(to), std::move(links), source});
}

NodeId MachineBuilder::add_domain(const std::string& number, Rate memory, const std::string& source) {
  const NodeId host = add_host("host" + number, source), cpu = add_switch("cpu" + number, source);
  join(host, cpu, memory, assumptions::memory_latency, source);
  const std::size_t out = d_.links.size() - 2;
  CapacityGroup both;
  both.name = "host" + number;
  both.forward = {LinkId{out}}, both.backward = {LinkId{out + 1}};
  both.capacity = CapacityCurve{{{1, memory}}};
  both.source = source;
  group(both);
  return cpu;
}

void MachineBuilder::join_all(const std::vector<NodeId>& nodes, Rate rate, Seconds latency, const std::string& source) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = i + 1; j < nodes.size(); ++j) join(nodes[i], nodes[j], rate, latency, source);
}

}  // namespace tilerail
