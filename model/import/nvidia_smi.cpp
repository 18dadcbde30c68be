#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

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
  std::map<std::string, NodeId> domains;
  std::vector<NodeId> sockets;
  for (const std::string& affinity : matrix.affinities)
    if (!domains.contains(affinity)) {
      sockets.push_back(machine.add_domain(std::to_string(domains.size()), rates.host_memory, assumed));
      domains.emplace(affinity, sockets.back());
    }
  machine.join_all(sockets, rates.sockets, assumptions::socket_latency, assumed);
  const auto gpus = add_gpus(machine, matrix, domains, rates);
  add_nvlinks(machine, matrix, gpus, rates.nvlink.value_or(assumptions::nvlink));
  return machine.description();
}

}  // namespace tilerail
