#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The paths of least time between the memories of a description, the time of a link being latency + 16 MiB /
/// bandwidth. Paths lead through switches: they start and end at memories and never pass through one. What was found
/// for a memory is kept; not to be used by two threads at once.
class ShortestPaths {
 public:
  /// `description` outlives this.
  explicit ShortestPaths(const Topology::Description& description);
  ~ShortestPaths();

  /// Of equal paths the one with the lowest link id, compared from the destination backwards; empty without a path.
  std::vector<LinkId> first(MemoryId src, MemoryId dst);

  /// All of them, that one first, but no more than `most`.
  std::vector<std::vector<LinkId>> all(MemoryId src, MemoryId dst, size_t most);

 private:
  class Graph;
  /// Whole picoseconds, so that equal paths compare equal whatever the order of their sums.
  using Picoseconds = int64_t;

  std::vector<Picoseconds> arrivals(MemoryId src) const;
  bool is_on_time(LinkId link, MemoryId src, const std::vector<Picoseconds>& arrival) const;
  std::vector<LinkId> last_links(MemoryId src) const;
  size_t node_of(MemoryId memory) const { return d_.memories[memory.index()].node.index(); }

  const Topology::Description& d_;
  std::unique_ptr<Graph> graph_;
  std::vector<std::vector<LinkId>> into_;  // by node: the links to it, by ascending id
  // By source and node, empty until paths from it are asked for: the lowest of the links that are on time, and when.
  std::vector<std::vector<LinkId>> last_links_;
  std::vector<std::vector<Picoseconds>> arrivals_;
};

}  // namespace tilerail
