#include "sched/transport/link_routes.hpp"

#include <numeric>

namespace tilerail {

std::shared_ptr<const SharedLinks> LinkRoutes::of(const Topology& topology,
                                                  const Key& key) {
  constexpr size_t most_pairs = 250'000;  // about 100 bytes each
  const std::scoped_lock lock{mutex_};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (!map_) map_.emplace(topology);
  const auto links =
      std::make_shared<SharedLinks>(*map_, key.devices, key.read, key.written,
                                    Bytes{key.bytes}, key.max_hops, key.rule);
  std::vector<size_t> all(key.devices.size());
  std::iota(all.begin(), all.end(), 0);
  links->activate(all);
  const size_t pairs = all.size() * all.size();
  if (pairs_ + pairs > most_pairs) {
    known_.clear();
    pairs_ = 0;
  }
  pairs_ += pairs;
  return known_.emplace(key, links).first->second;
}

}  // namespace tilerail
