#pragma once

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
  Ranks() = default;
  /// Throws InputError unless each memory of the machine belongs to exactly one rank.
  /// Interleaved pages on several hosts belong to none.
  Ranks(const std::vector<Rank>& ranks, const Topology& topology);

  static constexpr RankId none{-1};

  size_t size() const { return size_; }
  RankId of(MemoryId memory) const {
    return rank_of_.empty() ? RankId{} : rank_of_[memory.index()];
  }
  /// By MemoryId; empty if one rank has all.
  const std::vector<RankId>& by_memory() const { return rank_of_; }

 private:
  size_t size_ = 1;
  std::vector<RankId> rank_of_;
};

/// One of the ranks of a run.
struct OwnRank {
  Ranks ranks = {};
  RankId id = {};

  bool has(MemoryId memory) const { return ranks.of(memory) == id; }
};

}  // namespace tilerail
