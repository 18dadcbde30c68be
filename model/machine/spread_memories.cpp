#include "model/machine/spread_memories.hpp"

#include "model/base/indices.hpp"

namespace tilerail {

std::vector<Memory> with_spread_memories(std::vector<Memory> memories) {
  std::vector<MemoryId> hosts, gpus;
  for (const auto i : indices(memories)) (memories[i].kind == NodeKind::host ? hosts : gpus).push_back(MemoryId{i});
  const auto add = [&](std::string_view name, NodeKind kind, Pages pages, const std::vector<MemoryId>& over) {
    Memory spread;
    spread.name = name, spread.kind = kind;
    spread.pages = pages, spread.over = over;
    memories.push_back(std::move(spread));
  };
  if (hosts.size() > 1)
    for (const auto& [name, pages] : spread_names) add(name, NodeKind::host, pages, hosts);
  if (gpus.size() > 1) add(copies_name, NodeKind::gpu, Pages::copies, gpus);
  return memories;
}

}  // namespace tilerail
