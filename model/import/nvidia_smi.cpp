#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "model/import/import.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/smi_matrix.hpp"

namespace tilerail {
namespace {

using assumptions::most_nvlinks;
const std::string told = "topo -m", assumed = "assumed rates";

int nvlinks(const std::string& cell) { return cell.starts_with("NV") ? std::stoi(cell.substr(2)) : 0; }

bool same_switch(const std::string& cell) { return cell == "PIX" || cell == "PXB"; }

/// Behind the same PCIe switch: told by their cell, or, where that tells of NVLinks, by a network card there.
bool share_switch(const SmiMatrix& matrix, std::size_t i, std::size_t j) {
  if (same_switch(matrix.cells[i][j])) return true;
  if (!matrix.cells[i][j].starts_with("NV")) return false;
  for (std::size_t card = 0; card < matrix.cards[i].size(); ++card)
    if (same_switch(matrix.cards[i][card]) && same_switch(matrix.cards[j][card])) return true;
  return false;
}

/// By GPU: the first GPU that is behind the same PCIe switch.
std::vector<std::size_t> behind_one_switch(const SmiMatrix& matrix) {
  std::vector<std::size_t> first(matrix.devices.size());
  std::iota(first.begin(), first.end(), 0U);
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (share_switch(matrix, i, j)) {
        first[i] = first[j];
        break;
      }
  return first;
}

void add_nvlinks(MachineBuilder& machine, const SmiMatrix& matrix, const std::vector<NodeId>& gpus, Rate each) {
  constexpr Seconds latency = assumptions::nvlink_latency;
  int least = most_nvlinks + 1, most = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = 0; j < gpus.size(); ++j) {
      if (i == j) continue;
      least = std::min(least, nvlinks(matrix.cells[i][j]));
      most = std::max(most, nvlinks(matrix.cells[i][j]));
    }
  if (most == 0) return;
  if (least == most && most * static_cast<int>(gpus.size() - 1) > most_nvlinks) {
    const NodeId nvsw = machine.add_switch("nvsw", told);
    for (const NodeId gpu : gpus) machine.join(gpu, nvsw, each * most, latency, assumed);
    return;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = 0; j < gpus.size(); ++j)
      if (i != j && nvlinks(matrix.cells[i][j]) > 0)
        machine.link_peers(gpus[i], gpus[j], each * nvlinks(matrix.cells[i][j]), latency * 2, assumed);
}

/// Each below its socket, by NVLink-C2C where it is coherent, else behind a PCIe switch with those that share it.
std::vector<NodeId> add_gpus(MachineBuilder& machine, const SmiMatrix& matrix,
                             const std::map<std::string, NodeId>& domains, const ImportRates& rates) {
  std::map<std::string, NodeId> switches;
  std::vector<NodeId> gpus;
  const auto first = behind_one_switch(matrix);
  for (std::size_t i = 0; i < first.size(); ++i) {
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", matrix.devices[i]), matrix.devices[i], told));
    NodeId parent = domains.at(matrix.affinities[i]);
    if (matrix.coherent[i]) {
      machine.join(parent, gpus.back(), rates.c2c, assumptions::gpu_latency, assumed);
      continue;
    }
    if (std::ranges::count(first, first[i]) > 1) {
      const auto [plx, fresh] = switches.try_emplace(fmt::format("plx{}", first[i]), NodeId{0});
      if (fresh) {
        plx->second = machine.add_switch(plx->first, told);
        machine.join(parent, plx->second, rates.pcie, assumptions::pcie_switch_latency, assumed);
      }
      parent = plx->second;
    }
    machine.join(parent, gpus.back(), rates.pcie, assumptions::gpu_latency, assumed);
  }
  return gpus;
}

/// The NUMA affinity "3" of "48-63 3", or the first of several; "" where there is none.
std::string numa_number(const std::string& affinity) {
  const std::size_t blank = affinity.find(' ');
  const std::string numa = blank == std::string::npos ? "" : affinity.substr(blank + 1);
  return numa.substr(0, numa.find_first_not_of("0123456789"));
}

/// The numbers that the system has, or, where these do not tell the domains apart, those of the order of the rows.
std::vector<std::string> numbers_of(const std::vector<std::string>& affinities) {
  std::vector<std::string> numbers;
  for (const std::string& affinity : affinities) numbers.push_back(numa_number(affinity));
  const std::set<std::string> different{numbers.begin(), numbers.end()};
  if (different.size() == numbers.size() && !different.contains("")) return numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::to_string(i);
  return numbers;
}

/// By affinity, the first of those that are in the same socket: nvidia-smi has SYS for what crosses to another one.
std::vector<std::size_t> sockets_of(const SmiMatrix& matrix, const std::vector<std::string>& affinities) {
  const std::set<std::string> within{"NODE", "PHB", "PXB", "PIX"};
  std::vector<std::size_t> socket(affinities.size());
  std::iota(socket.begin(), socket.end(), 0U);
  const auto domain_of = [&](std::size_t row) {
    return static_cast<std::size_t>(std::ranges::find(affinities, matrix.affinities[row]) - affinities.begin());
  };
  for (std::size_t i = 0; i < matrix.cells.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (within.contains(matrix.cells[i][j]))
        std::ranges::replace(socket, std::max(socket[domain_of(i)], socket[domain_of(j)]),
                             std::min(socket[domain_of(i)], socket[domain_of(j)]));
  return socket;
}

/// A domain for each affinity; returns their switches.
std::map<std::string, NodeId> add_domains(MachineBuilder& machine, const SmiMatrix& matrix, const ImportRates& rates) {
  std::vector<std::string> affinities;
  std::set<std::string> coherent;
  for (std::size_t i = 0; i < matrix.affinities.size(); ++i) {
    const std::string& affinity = matrix.affinities[i];
    if (std::ranges::find(affinities, affinity) == affinities.end()) affinities.push_back(affinity);
    if (matrix.coherent[i]) coherent.insert(affinity);
  }
  const auto numbers = numbers_of(affinities);
  const auto sockets = sockets_of(matrix, affinities);
  std::map<std::string, NodeId> nodes;
  std::vector<MachineBuilder::Domain> domains;
  for (std::size_t i = 0; i < affinities.size(); ++i) {
    const auto in_socket = static_cast<std::size_t>(std::ranges::count(sockets, sockets[i]));
    const auto memory = rates.host(coherent.contains(affinities[i]), in_socket);
    domains.push_back({machine.add_domain(numbers[i], memory, assumed), sockets[i]});
    nodes.emplace(affinities[i], domains.back().node);
  }
  machine.join_domains(domains, rates.sockets, assumed);
  return nodes;
}

}  // namespace

Topology::Description import_nvidia_smi(std::string_view text, const std::string& file, const GpuKind& kind,
                                        const ImportRates& rates) {
  const SmiMatrix matrix = read_smi_matrix(text, file);
  MachineBuilder machine{"nvidia-smi", fmt::format("{} GPUs as 'nvidia-smi topo -m' shows them", matrix.devices.size()),
                         kind};
  machine.source(told, Source::Kind::measured, "nvidia-smi topo -m: which GPUs there are, and what joins them");
  machine.source(
      assumed, Source::Kind::assumed,
      "nvidia-smi topo -m tells no rates, latencies and host memories; NVLinks of a kind that adds up to more "
      "than a GPU has lead to a switch; a GPU whose memory is a NUMA domain has NVLink-C2C to its processor");
  const auto domains = add_domains(machine, matrix, rates);
  const auto gpus = add_gpus(machine, matrix, domains, rates);
  add_nvlinks(machine, matrix, gpus, rates.nvlink.value_or(assumptions::nvlink));
  return machine.description();
}

}  // namespace tilerail
