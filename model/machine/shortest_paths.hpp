#pragma once

#include "model/machine/topology.hpp"

namespace tilerail {

/// Shortest paths between the memories of a description; the time of a link is latency +
/// 16 MiB / bandwidth. Paths lead through switches: they start and end at memories and
/// never pass through one. Caches results per source memory. Limit: not thread-safe.
class ShortestPaths {
 public:
  using Links = std::vector<LinkId>;

  /// `description` must outlive this object.
  explicit ShortestPaths(const Topology::Description& description);

  /// Up to `most` paths; first the path with the lowest link id, compared from the
  /// destination backwards.
  std::vector<Links> all(MemoryId src, MemoryId dst, size_t most);

 private:
  const Links& links_from(MemoryId src);

  const Topology::Description& d_;
  std::vector<Links> out_;  // by vertex
  /// By source, empty until first use: the links of its shortest paths, by destination
  /// vertex and ascending id.
  std::vector<Links> found_;
};

}  // namespace tilerail
