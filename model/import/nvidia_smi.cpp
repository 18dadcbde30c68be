#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "model/base/indices.hpp"
#include "model/import/import.hpp"
#include "model/import/joined_sets.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/peer_access.hpp"
#include "model/import/smi_domains.hpp"
#include "model/import/smi_matrix.hpp"

namespace tilerail {
namespace {

const std::string told = "topo -m", assumed = "assumed rates";

int nvlinks(const std::string& cell) { return cell.starts_with("NV") ? std::stoi(cell.substr(2)) : 0; }

bool same_switch(const std::string& cell) { return cell == "PIX" || cell == "PXB"; }

/// Behind the same PCIe switch: told by their cell, or, where that tells of NVLinks, by a network card there.
bool share_switch(const SmiMatrix& matrix, size_t i, size_t j) {
  if (same_switch(matrix.cells[i][j])) return true;
  if (!matrix.cells[i][j].starts_with("NV")) return false;
  for (const auto card : indices(matrix.cards[i]))
    if (same_switch(matrix.cards[i][card]) && same_switch(matrix.cards[j][card])) return true;
  return false;
}

/// By GPU: the first GPU that is behind the same PCIe switch.
std::vector<size_t> behind_one_switch(const SmiMatrix& matrix) {
  std::vector<size_t> first(matrix.devices.size());
  std::iota(first.begin(), first.end(), 0U);
  for (const auto i : indices(first))
    for (size_t j = 0; j < i; ++j)
      if (share_switch(matrix, i, j)) {
        first[i] = first[j];
        break;
      }
  return first;
}

/// Each below its socket, by NVLink-C2C where it is coherent, else behind a PCIe switch with those that share it.
std::vector<NodeId> add_gpus(MachineBuilder& machine, const SmiMatrix& matrix, const std::vector<NodeId>& sockets,
                             const ImportRates& rates) {
  std::map<std::string, NodeId> switches;
  std::vector<NodeId> gpus;
  const auto first = behind_one_switch(matrix);
  for (const auto i : indices(first)) {
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", matrix.devices[i]), matrix.devices[i], told));
    NodeId parent = sockets[i];
    if (matrix.own_domains[i]) {
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

/// The NVLinks of a matrix: islands of GPUs that they join, over a switch or directly.
class Nvlinks {
 public:
  Nvlinks(MachineBuilder& machine, const SmiMatrix& matrix, const std::vector<NodeId>& gpus, const ImportRates& rates,
          int of_kind)
      : machine_{machine}, m_{matrix}, gpus_{gpus}, rates_{rates}, each_{rates.nvlink.value_or(assumptions::nvlink)} {
    for (const auto i : indices(gpus)) most_ = std::max(most_, largest(i));
    if (most_ <= of_kind) most_ = of_kind;
  }

  void add() {
    const auto islands = islands_of_several();
    const auto switches = std::ranges::count_if(islands, [this](const auto& island) { return is_switched(island); });
    int number = 0;
    for (const auto& island : islands)
      if (is_switched(island))
        add_switch(switches == 1 ? "nvsw" : fmt::format("nvsw{}", number++), island);
      else
        add_direct(island);
  }

 private:
  using Island = std::vector<size_t>;

  int count(size_t i, size_t j) const { return nvlinks(m_.cells[i][j]); }

  int largest(size_t i) const {
    int most = 0;
    for (const auto j : indices(gpus_)) most = std::max(most, count(i, j));
    return most;
  }

  std::vector<Island> islands_of_several() const {
    auto islands = joined_sets(gpus_.size(), [this](size_t i, size_t j) { return count(i, j) > 0; });
    std::erase_if(islands, [](const Island& island) { return island.size() == 1; });
    return islands;
  }

  /// Whether NVLinks of an island lead to a switch: where they add up to more than a GPU has; and where all of several
  /// GPUs reach all others by more than direct links leave for each peer.
  bool is_switched(const Island& island) const {
    int most = 0;
    bool complete = island.size() > 2;
    for (const size_t i : island) {
      int sum = 0;
      for (const size_t j : island) {
        if (i == j) continue;
        sum += count(i, j);
        complete = complete && count(i, j) > 0;
      }
      if (sum > most_) return true;
      most = std::max(most, largest(i));
    }
    return complete && most * assumptions::least_parts > most_;
  }

  Rate to_host(size_t gpu) const { return m_.own_domains[gpu] ? rates_.c2c : rates_.pcie; }

  /// A port for each GPU, of its largest count. Copies take it also where it is slower than the way over the host.
  void add_switch(const std::string& name, const Island& island) {
    const NodeId nvsw = machine_.add_switch(name, told);
    std::map<size_t, LinkId> out, in;
    for (const size_t i : island) {
      machine_.link(gpus_[i], nvsw, each_ * largest(i), assumptions::nvlink_latency, assumed);
      out.emplace(i, machine_.last_link());
      machine_.link(nvsw, gpus_[i], each_ * largest(i), assumptions::nvlink_latency, assumed);
      in.emplace(i, machine_.last_link());
    }
    for (const size_t i : island)
      for (const size_t j : island)
        if (i != j && each_ * std::min(largest(i), largest(j)) <= std::max(to_host(i), to_host(j)))
          machine_.route(gpus_[i], gpus_[j], {out.at(i), in.at(j)}, assumed);
  }

  void add_direct(const Island& island) {
    for (const size_t i : island)
      for (const size_t j : island)
        if (count(i, j) > 0)
          machine_.link_peers(gpus_[i], gpus_[j], each_ * count(i, j), assumptions::nvlink_latency * 2, assumed);
  }

  MachineBuilder& machine_;
  const SmiMatrix& m_;
  const std::vector<NodeId>& gpus_;
  const ImportRates& rates_;
  Rate each_;
  int most_ = 0;  // NVLinks of one GPU
};

/// Domains of one socket share its memory.
std::vector<MachineBuilder::Domain> add_domains(MachineBuilder& machine, const SmiMatrix& matrix,
                                                const SmiDomains& domains, const ImportRates& rates) {
  std::vector<bool> coherent(domains.numbers.size());
  for (const auto gpu : indices(domains.of_gpu))
    if (matrix.own_domains[gpu]) coherent[domains.of_gpu[gpu]] = true;
  std::vector<MachineBuilder::Domain> nodes;
  for (const auto i : indices(domains.numbers)) {
    const size_t socket = domains.sockets[i];
    const auto in_socket = size_t(std::ranges::count(domains.sockets, socket));
    nodes.push_back({machine.add_domain(domains.numbers[i], rates.host(coherent[i], in_socket), assumed), socket});
  }
  machine.join_domains(nodes, rates.sockets, assumed);
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
      "nvidia-smi topo -m tells no rates, latencies and host memories; if the NVLinks of a GPU add up to more than "
      "it has, they and those of the GPUs that they join lead to a switch, of each GPU its largest number; a GPU whose "
      "memory is a NUMA domain has NVLink-C2C to its processor");
  const SmiDomains domains = domains_of(matrix, file);
  const auto nodes = add_domains(machine, matrix, domains, rates);
  std::vector<NodeId> of_gpus;
  for (const size_t domain : domains.of_gpu) of_gpus.push_back(nodes[domain].node);
  const auto gpus = add_gpus(machine, matrix, of_gpus, rates);
  Nvlinks{machine, matrix, gpus, rates, nvlinks_of(kind)}.add();
  Topology::Description description = machine.description();
  if (matrix.access)
    deny_peer_access(description, *matrix.access, {"topo -p2p", Source::Kind::measured, "nvidia-smi topo -p2p"}, file);
  return description;
}

}  // namespace tilerail
