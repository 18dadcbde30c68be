// A cluster of nodes with four GPUs each.
#pragma once

#include <string>
#include <vector>

#include "model/base/indices.hpp"
#include "model/machine/rank.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::small_machine {

inline constexpr int gpus_of_node = 4;

/// In GB/s and both directions, with node 0 of host h, node 1 of host h1 ...:
///
///   g0 ... g3 -100- nv0          NVLink of a node
///   g0 ... g3 -25- pcie0 -20- h
///   pcie0 -20- nic0 -12- net     between nodes
///
/// The hosts after the first come last.
inline Topology::Description gpu_nodes(int nodes) {
  std::vector<std::string> switches{"net"};
  for (int i = 0; i < nodes; ++i)
    for (const char* kind : {"nv", "pcie", "nic"})
      switches.push_back(kind + std::to_string(i));
  auto d = unlinked("h", "g", nodes * gpus_of_node, switches);
  d.kernels[0].gemm = {gemms(DType::f64, {{8, 0.05}, {64, 0.5}, {1024, 5}})};
  d.kernels[0].memory_bandwidth = Rate{1000 * giga};
  for (int i = 0; i < nodes; ++i) {
    const std::string of = std::to_string(i), host = i == 0 ? "h" : "h" + of;
    if (i > 0) add_host(d, host);
    for (int gpu = i * gpus_of_node; gpu < (i + 1) * gpus_of_node; ++gpu) {
      add_links(d, "g" + std::to_string(gpu), "nv" + of, 100, 1);
      add_links(d, "g" + std::to_string(gpu), "pcie" + of, 25, 1);
    }
    add_links(d, "pcie" + of, host, 20, 1);
    add_links(d, "pcie" + of, "nic" + of, 20, 1);
    add_links(d, "nic" + of, "net", 12, 2);
    Node node{"node" + of, {}, {vertex(d, "nic" + of)}, "s"};
    for (const auto m : indices(d.memories))
      if (const Memory& each = d.memories[m];
          each.processor ? each.processor->device / gpus_of_node == i : each.name == host)
        node.memories.push_back(MemoryId{m});
    d.nodes.push_back(node);
  }
  return d;
}

/// Ranks of consecutive GPUs. The host of a node belongs to the rank of its first GPU.
inline Ranks ranks_of_gpus(const Topology& machine, int gpus_of_rank) {
  const auto& gpus = machine.gpus();
  std::vector<Rank> ranks(gpus.size() / size_t(gpus_of_rank));
  for (size_t i = 0; i < gpus.size(); ++i)
    ranks[i / size_t(gpus_of_rank)].memories.push_back(gpus[i]);
  for (size_t i = 0; i < machine.hosts().size(); ++i)
    ranks[i * gpus_of_node / size_t(gpus_of_rank)].memories.push_back(machine.hosts()[i]);
  return {ranks, machine};
}

}  // namespace tilerail::small_machine
