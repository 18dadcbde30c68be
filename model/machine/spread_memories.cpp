#include "model/machine/spread_memories.hpp"

namespace tilerail {

std::vector<Memory> with_spread_memories(std::vector<Memory> memories) {
  std::vector<MemoryId> hosts;
  for (std::size_t i = 0; i < memories.size(); ++i)
    if (memories[i].kind == NodeKind::host) hosts.push_back(MemoryId{i});
  if (hosts.size() < 2) return memories;
  for (const auto& [name, pages] : spread_names) {
    Memory spread;
    spread.name = name, spread.kind = NodeKind::host;
    spread.pages = pages, spread.over = hosts;
    memories.push_back(std::move(spread));
  }
  return memories;
}

}  // namespace tilerail
