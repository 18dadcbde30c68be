// Helpers for tests of importers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/import/import.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::imported {

inline GpuKind kind() {
  const Topology machine = test::shipped("two-gpu");
  const auto& d = machine.description();
  return {d.name,    d.kernels[0], machine.memory(machine.gpus()[0]),
          d.strided, d.issue,      d.sources};
}

inline Rate pair(const Topology& machine, const std::string& from,
                 const std::string& to) {
  return machine.pair_rate(machine.find_memory(from).value(),
                           machine.find_memory(to).value());
}

/// The links of a copy, "host0->cpu0 cpu0->gpu0".
inline std::string way(const Topology& machine, const std::string& from,
                       const std::string& to) {
  std::string links;
  for (const LinkId link :
       machine.route(machine.find_memory(from).value(), machine.find_memory(to).value()))
    links += (links.empty() ? "" : " ") + machine.link(link).name;
  return links;
}

/// The total rate of copies between all connected GPUs in GB/s, with all of them running.
inline double all_pairs_busy(const Topology& machine) {
  std::vector<std::pair<MemoryId, MemoryId>> flows;
  for (const MemoryId src : machine.gpus())
    for (const MemoryId dst : machine.gpus())
      if (src != dst && machine.has_route(src, dst)) flows.emplace_back(src, dst);
  double sum = 0;
  for (const Rate rate : concurrent_rates(machine, flows)) sum += rate.value / 1e9;
  return sum;
}

/// The output of `nvidia-smi topo -m` with these cells, one text per row, and the text
/// after the cells of every row.
inline std::string smi_text(const std::vector<std::vector<std::string>>& cells,
                            const std::string& header = "",
                            const std::string& behind = "") {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) text += "\tGPU" + std::to_string(i);
  text += header + "\n";
  for (size_t i = 0; i < cells.size(); ++i) {
    text += "GPU" + std::to_string(i);
    for (const std::string& cell : cells[i]) text += "\t" + cell;
    text += behind + "\n";
  }
  return text;
}

/// Checks that the machine can be written and read again.
inline Topology written_again(const Topology::Description& description) {
  const std::string text = to_toml(description);
  EXPECT_EQ(to_toml(read_topology(text, "again.toml").description()), text);
  return Topology{description};
}

/// The source kind of a link.
inline Source::Kind source_kind(const Topology& machine, const std::string& link) {
  const auto at = std::ranges::find(machine.links(), link, &Link::name);
  return std::ranges::find(machine.description().sources, at->source, &Source::key)->kind;
}

}  // namespace tilerail::imported
