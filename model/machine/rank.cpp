#include "model/machine/rank.hpp"

#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail {

Ranks::Ranks(const std::vector<Rank>& ranks, const Topology& topology)
    : size_{ranks.size()}, rank_of_(topology.memories().size(), none) {
  for (const auto r : indices(ranks))
    for (const MemoryId memory : ranks[r].memories)
      if (std::exchange(rank_of_[memory.index()], RankId{r}) != none)
        throw given_twice("ranks", topology.memory(memory).name);
  for (const auto m : indices(rank_of_))
    if (const Memory& memory = topology.memories()[m];
        rank_of_[m] == none && memory.over.empty())
      throw missing("ranks", memory.name);
}

Ranks Ranks::of_nodes(const Topology& topology) {
  if (topology.nodes().empty()) return {};
  std::vector<Rank> ranks;
  for (const Node& node : topology.nodes()) ranks.push_back({node.memories});
  return {ranks, topology};
}

}  // namespace tilerail
