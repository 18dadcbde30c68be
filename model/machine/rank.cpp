#include "model/machine/rank.hpp"

#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail {

Ranks::Ranks(const std::vector<Rank>& ranks, const Topology& topology)
    : size_{ranks.size()} {
  rank_of_.assign(topology.memories().size(), none);
  for (const auto r : indices(ranks)) {
    for (const MemoryId memory : ranks[r].memories) {
      if (rank_of_[memory.index()] != none)
        throw given_twice("ranks", topology.memory(memory).name);
      rank_of_[memory.index()] = RankId{r};
    }
  }
  for (const auto m : indices(rank_of_))
    if (rank_of_[m] == none && topology.memories()[m].over.empty())
      throw InputError{"ranks", topology.memories()[m].name, "belongs to no rank"};
}

}  // namespace tilerail
