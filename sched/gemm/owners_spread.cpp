#include "sched/gemm/owners_spread.hpp"

#include <algorithm>

namespace tilerail {
namespace {

/// Of a device's tiles of C and of its part of k, by numbers from 0.
struct Numbered {
  std::int64_t order, k, tile;
  auto operator<=>(const Numbered&) const = default;
};

}  // namespace

OwnersSpread::OwnersSpread(const GemmTasks& tasks, const Tiling& tiling)
    : tasks_{tasks}, tiling_{tiling}, devices_(tiling.devices()) {
  std::vector<Numbered> all;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::vector<TileOfC>& tiles = tiling.tiles_of(d);
    const Interval depth = tiling.depth_of(d);
    const auto count = static_cast<std::int64_t>(tiles.size());
    all.clear();
    for (std::int64_t tile = 0; tile < count; ++tile)
      for (std::int64_t k = 0; k < depth.size(); ++k)
        all.push_back({std::max((k + 1) * count, 2 * (tile + 1) * depth.size()), k, tile});  // times K P
    std::ranges::sort(all);
    for (const Numbered& one : all) {
      const TileOfC at = tiles[static_cast<std::size_t>(one.tile)];
      devices_[d].sequence.push_back({at.i, at.j, depth.begin + one.k});
    }
  }
}

std::optional<Task> OwnersSpread::next(std::size_t device) {
  Device& d = devices_[device];
  if (d.next == d.sequence.size()) return std::nullopt;
  const SubProblem sub = d.sequence[d.next++];
  const Interval depth = tiling_.depth_of(device);
  return tasks_.task(sub, sub.k == depth.begin, sub.k + 1 == depth.end);
}

}  // namespace tilerail
