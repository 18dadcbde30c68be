#include "sched/gemm/owners_in_steps.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

OwnersInSteps::OwnersInSteps(const GemmTasks& tasks, const Tiling& tiling,
                             const TileDirectory& directory)
    : tasks_{tasks}, directory_{directory}, devices_(tiling.devices()) {
  for (const auto d : indices(devices_)) OwnersInSteps::begin(d, whole_share(tiling, d));
}

void OwnersInSteps::begin(size_t device, const Share& share) {
  devices_[device] = {share, share.depth.begin - 1, {}};
}

int OwnersInSteps::missing(size_t device, const SubProblem& sub) const {
  return !directory_.present(tasks_.a(sub.i, sub.k), device) +
         !directory_.present(tasks_.b(sub.k, sub.j), device);
}

std::optional<Task> OwnersInSteps::next(size_t device) {
  Device& d = devices_[device];
  const IndexRange depth = d.share.depth;
  if (d.waiting.empty()) {
    if (d.k + 1 >= depth.end) return std::nullopt;
    ++d.k;
    d.waiting.assign(d.share.tiles.begin(), d.share.tiles.end());
    if (d.waiting.empty()) return std::nullopt;
  }
  const auto ends = d.waiting.begin() + ptrdiff_t(std::min(window, d.waiting.size()));
  const auto best = std::min_element(d.waiting.begin(), ends, [&](TileOfC a, TileOfC b) {
    return missing(device, {a.i, a.j, d.k}) < missing(device, {b.i, b.j, d.k});
  });
  const SubProblem sub{best->i, best->j, d.k};
  d.waiting.erase(best);
  return tasks_.task(sub, sub.k == depth.begin, sub.k + 1 == depth.end);
}

}  // namespace tilerail
