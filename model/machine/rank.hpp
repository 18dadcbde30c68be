#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// A process: no other one reads or writes its memories. Several may share a machine of a
/// cluster.
struct Rank {
  std::vector<MemoryId> memories;
};

/// The ranks of a run. By default, one has all memories.
class Ranks {
 public:
  static constexpr RankId none{-1};  // of interleaved pages on several hosts
                                     // and of memories of other machines

  Ranks() = default;
  /// Throws InputError unless each memory of the machine belongs to exactly one rank,
  /// except interleaved pages on several hosts.
  Ranks(const std::vector<Rank>& ranks, const Topology& topology);
  /// One rank for each node of the machine.
  static Ranks of_nodes(const Topology& topology);

  size_t size() const { return size_; }
  RankId of(MemoryId memory) const {
    if (rank_of_.empty()) return RankId{};
    return memory.index() < rank_of_.size() ? rank_of_[memory.index()] : none;
  }

 private:
  size_t size_ = 1;
  std::vector<RankId> rank_of_;  // by memory
};

/// One of the ranks of a run.
struct OwnRank {
  Ranks ranks = {};
  RankId id = {};

  bool has(MemoryId memory) const { return ranks.of(memory) == id; }
  bool has_any(const auto& memories) const {
    return std::ranges::any_of(memories, [&](MemoryId m) { return has(m); });
  }
};

}  // namespace tilerail
