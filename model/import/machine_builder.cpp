#include "model/import/machine_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

const std::string memory_source = "host memory";

}  // namespace

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
  return MemoryId{size_t(memory - d_.memories.begin())};
}

void MachineBuilder::link_peers(NodeId from, NodeId to, Rate rate, Seconds latency, const std::string& source) {
  link(from, to, rate, latency, source);
  route(from, to, {last_link()}, source);
}

void MachineBuilder::route(NodeId from, NodeId to, std::vector<LinkId> links, const std::string& source) {
  d_.routes.push_back({memory_at(from), memory_at(to), std::move(links), source});
}

NodeId MachineBuilder::add_domain(const std::string& number, const assumptions::HostRates& rates,
                                  const std::string& source) {
  const std::string memory = memory_source;
  if (hosts_.empty()) this->source(memory, Source::Kind::assumed, assumptions::host_memory_text);
  const NodeId host = add_host("host" + number, source), cpu = add_switch("cpu" + number, source);
  link(host, cpu, rates.read, assumptions::memory_latency, memory);
  link(cpu, host, rates.written, assumptions::memory_latency, memory);
  CapacityGroup both;
  both.name = "host" + number;
  both.forward = {LinkId{d_.links.size() - 2}}, both.backward = {LinkId{d_.links.size() - 1}};
  both.both_busy = CapacityCurve{{{1, rates.both}}};
  both.forward_share = rates.read_share;
  both.source = memory;
  group(both);
  hosts_.push_back({both.forward.front(), both.backward.front(), rates});
  return cpu;
}

void MachineBuilder::join_domains(const std::vector<Domain>& domains, Rate between_sockets, const std::string& source) {
  const size_t first = d_.links.size();
  bool shared = false;
  for (const auto i : indices(domains))
    for (size_t j = i + 1; j < domains.size(); ++j) {
      const bool same = domains[i].socket == domains[j].socket;
      join(domains[i].node, domains[j].node, same ? assumptions::domains : between_sockets,
           same ? assumptions::domain_latency : assumptions::socket_latency, source);
      shared = shared || same;
    }
  if (shared) share_socket_links(domains, between_sockets, source, first);
  share_memories(domains);
}

CapacityGroup MachineBuilder::group_of_hosts(const std::string& name, const std::vector<LinkId>& forward,
                                             Rate bound) const {
  CapacityGroup all;
  all.name = name;
  all.forward = forward;
  all.capacity = CapacityCurve{{{1, bound}}};
  all.source = memory_source;
  return all;
}

void MachineBuilder::share_memories(const std::vector<Domain>& domains) {
  if (std::ranges::all_of(domains, [&](const Domain& d) { return d.socket == domains.front().socket; })) return;
  std::vector<LinkId> read, written;
  assumptions::HostRates sum;
  for (const Host& host : hosts_) {
    read.push_back(host.read), written.push_back(host.written);
    const assumptions::MemoryShares& shares = host.rates.together;
    sum.read += host.rates.read * shares.read, sum.written += host.rates.written * shares.written;
    sum.both += host.rates.both * shares.both, sum.read_share = host.rates.read_share;
  }
  group(group_of_hosts("host memories, read", read, sum.read));
  group(group_of_hosts("host memories, written", written, sum.written));
  CapacityGroup both = group_of_hosts("host memories, both directions", read, sum.both);
  both.backward = written;
  both.both_busy.swap(both.capacity);
  both.forward_share = sum.read_share;
  group(both);
}

/// Of the links from `first` on, those from one socket to another are one.
void MachineBuilder::share_socket_links(const std::vector<Domain>& domains, Rate between_sockets,
                                        const std::string& source, size_t first) {
  const auto socket_of = [&](NodeId node) { return std::ranges::find(domains, node, &Domain::node)->socket; };
  std::map<std::pair<size_t, size_t>, std::vector<LinkId>> links;
  for (size_t i = first; i < d_.links.size(); ++i)
    links[{socket_of(d_.links[i].from), socket_of(d_.links[i].to)}].emplace_back(i);
  for (const auto& [ends, between] : links) {
    if (ends.first == ends.second || between.size() == 1) continue;
    CapacityGroup one;
    one.name = fmt::format("socket {} to socket {}", ends.first, ends.second);
    one.forward = between;
    one.capacity = CapacityCurve{{{1, between_sockets}}};
    one.source = source;
    group(one);
  }
}

}  // namespace tilerail
