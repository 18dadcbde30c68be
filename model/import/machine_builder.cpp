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

MachineBuilder::MachineBuilder(std::string name, std::string description,
                               const GpuKind& kind)
    : kind_{kind} {
  d_.name = std::move(name);
  d_.description = std::move(description);
  d_.sources = kind.sources;
  d_.kernels = {kind.kernels};
  d_.strided = kind.strided;
  d_.issue = kind.issue;
}

void MachineBuilder::source(const std::string& key, Source::Kind kind,
                            const std::string& text) {
  d_.sources.push_back({key, kind, text});
}

VertexId MachineBuilder::add_host(const std::string& name, const std::string& source) {
  const VertexId vertex{d_.vertices.size()};
  d_.vertices.push_back({name, VertexKind::host, source});
  d_.memories.push_back({name, VertexKind::host, vertex, {}, {}, source});
  return vertex;
}

VertexId MachineBuilder::add_switch(const std::string& name, const std::string& source) {
  d_.vertices.push_back({name, VertexKind::network_switch, source});
  return VertexId{d_.vertices.size() - 1};
}

VertexId MachineBuilder::add_gpu(const std::string& name, int device,
                                 const std::string& source) {
  Memory memory = kind_.gpu;
  memory.name = name;
  memory.processor->device = device;
  memory.vertex = VertexId{d_.vertices.size()};
  memory.source = source;
  d_.vertices.push_back({name, VertexKind::gpu, source});
  d_.memories.push_back(memory);
  return memory.vertex;
}

LinkId MachineBuilder::link(VertexId from, VertexId to, Rate rate, Seconds latency,
                            const std::string& source) {
  d_.links.push_back({"", from, to, rate, latency, {}, source});
  return LinkId{d_.links.size() - 1};
}

void MachineBuilder::bound(const std::string& name, const std::vector<LinkId>& links,
                           CapacityCurve most, const std::string& source) {
  d_.groups.push_back({name, links, {}, std::move(most), {}, {}, source});
}

void MachineBuilder::bound_both(const std::string& name,
                                const std::vector<LinkId>& forward,
                                const std::vector<LinkId>& backward, CapacityCurve most,
                                std::optional<double> share, const std::string& source) {
  d_.groups.push_back({name, forward, backward, {}, std::move(most), share, source});
}

void MachineBuilder::join(VertexId a, VertexId b, Rate rate, Seconds latency,
                          const std::string& source) {
  link(a, b, rate, latency, source);
  link(b, a, rate, latency, source);
}

MemoryId MachineBuilder::memory_at(VertexId vertex) const {
  const auto memory = std::ranges::find(d_.memories, vertex, &Memory::vertex);
  return MemoryId{size_t(memory - d_.memories.begin())};
}

void MachineBuilder::link_peers(VertexId from, VertexId to, Rate rate, Seconds latency,
                                const std::string& source) {
  const LinkId direct = link(from, to, rate, latency, source);
  route(from, to, {direct}, source);
}

void MachineBuilder::route(VertexId from, VertexId to, std::vector<LinkId> links,
                           const std::string& source) {
  d_.routes.push_back({memory_at(from), memory_at(to), std::move(links), source});
}

VertexId MachineBuilder::add_domain(const std::string& number,
                                    const assumptions::HostRates& rates,
                                    const std::string& source) {
  if (hosts_.empty())
    this->source(memory_source, Source::Kind::assumed, assumptions::host_memory_text);
  const VertexId host = add_host("host" + number, source),
                 cpu = add_switch("cpu" + number, source);
  const LinkId read =
      link(host, cpu, rates.read, assumptions::memory_latency, memory_source);
  const LinkId written =
      link(cpu, host, rates.written, assumptions::memory_latency, memory_source);
  bound_both("host" + number, {read}, {written}, {{{1, rates.both}}}, rates.read_share,
             memory_source);
  hosts_.push_back({read, written, rates});
  return cpu;
}

void MachineBuilder::join_domains(const std::vector<Domain>& domains,
                                  Rate between_sockets, const std::string& source) {
  std::map<std::pair<size_t, size_t>, std::vector<LinkId>>
      links;  // from socket to socket
  for (const auto i : indices(domains))
    for (size_t j = i + 1; j < domains.size(); ++j) {
      const Domain &a = domains[i], &b = domains[j];
      const bool same = a.socket == b.socket;
      const Rate rate = same ? assumptions::domains : between_sockets;
      const Seconds latency =
          same ? assumptions::domain_latency : assumptions::socket_latency;
      links[{a.socket, b.socket}].push_back(
          link(a.vertex, b.vertex, rate, latency, source));
      links[{b.socket, a.socket}].push_back(
          link(b.vertex, a.vertex, rate, latency, source));
    }
  for (const auto& [ends, between] : links)
    if (ends.first != ends.second && between.size() > 1)
      bound(fmt::format("socket {} to socket {}", ends.first, ends.second), between,
            {{{1, between_sockets}}}, source);
  share_memories(domains);
}

void MachineBuilder::share_memories(const std::vector<Domain>& domains) {
  if (std::ranges::all_of(
          domains, [&](const Domain& d) { return d.socket == domains.front().socket; }))
    return;
  std::vector<LinkId> read, written;
  assumptions::HostRates sum;
  for (const Host& host : hosts_) {
    read.push_back(host.read), written.push_back(host.written);
    const assumptions::MemoryShares& shares = host.rates.together;
    sum.read += host.rates.read * shares.read,
        sum.written += host.rates.written * shares.written;
    sum.both += host.rates.both * shares.both, sum.read_share = host.rates.read_share;
  }
  bound("host memories, read", read, {{{1, sum.read}}}, memory_source);
  bound("host memories, written", written, {{{1, sum.written}}}, memory_source);
  bound_both("host memories, both directions", read, written, {{{1, sum.both}}},
             sum.read_share, memory_source);
}

}  // namespace tilerail
