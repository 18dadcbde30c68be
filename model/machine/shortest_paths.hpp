#pragma once

#include "model/machine/topology.hpp"

namespace tilerail {

/// The paths of least time between the memories of a description, the time of a link
/// being latency + 16 MiB / bandwidth. Paths lead through switches: they start and end at
/// memories and never pass through one. What was found for a memory is kept; not to be
/// used by two threads at once.
class ShortestPaths {
 public:
  using Links = std::vector<LinkId>;

  /// `description` outlives this.
  explicit ShortestPaths(const Topology::Description& description);

  /// Up to `most` of them, at first the one with the lowest link id, compared from the
  /// destination backwards.
  std::vector<Links> all(MemoryId src, MemoryId dst, size_t most);

 private:
  const Links& links_from(MemoryId src);

  const Topology::Description& d_;
  std::vector<Links> out_;  // by node
  /// By source, empty until paths from it are asked for: the links of its paths, by the
  /// node that they lead to, and by ascending id.
  std::vector<Links> found_;
};

}  // namespace tilerail
