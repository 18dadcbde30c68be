#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "model/published/link_map.hpp"

namespace tilerail {

/// Routes by the link map of a machine, computed once for the many plans of a search.
/// Thread-safe.
class LinkRoutes {
 public:
  struct Key {
    std::vector<MemoryId> devices, read, written;
    double bytes;  // of a tile
    int max_hops;
    HopRule rule;
    auto operator<=>(const Key&) const = default;
  };

  /// With all devices active. Refers to `topology`.
  std::shared_ptr<const SharedLinks> of(const Topology& topology, const Key& key);

 private:
  std::mutex mutex_;
  std::optional<LinkMap> map_;
  std::map<Key, std::shared_ptr<const SharedLinks>> known_;
  size_t pairs_ = 0;  // of devices in `known_`
};

}  // namespace tilerail
