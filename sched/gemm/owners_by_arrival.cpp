#include "sched/gemm/owners_by_arrival.hpp"

#include "model/base/indices.hpp"

namespace tilerail {

OwnersByArrival::OwnersByArrival(const GemmTasks& tasks, const Tiling& tiling,
                                 const Fetcher& fetcher, const OwnedTiles& outputs)
    : tasks_{tasks},
      fetcher_{fetcher},
      outputs_{outputs},
      devices_(tiling.devices()),
      arrivals_(tasks.inputs()) {
  for (const auto d : indices(devices_))
    OwnersByArrival::begin(d, whole_share(tiling, d));
}

void OwnersByArrival::begin(size_t device, const Share& share) {
  devices_[device] = {share.depth, {}};
  if (share.depth.size() == 0) return;
  for (const TileOfC tile : share.tiles)
    devices_[device].open.push_back({tile, {}, share.depth.begin + 1});
}

void OwnersByArrival::look_further(TileProgress& open, const IndexRange& depth) {
  while (open.between.size() < window && open.next_k + 1 < depth.end)
    open.between.push_back(open.next_k++);
}

Seconds OwnersByArrival::arrival(size_t device, TileId tile, int& missing) {
  InputArrival& known = arrivals_[tile.index()];
  if (known.task != task_) {
    const Seconds there = fetcher_.directory().there(tile, device);
    known = {task_, there, there == TileDirectory::nowhere};
    if (known.missing) known.eta = fetcher_.eta(tile, device);
  }
  missing += known.missing;
  return known.eta;
}

InputRank OwnersByArrival::rank(size_t device, const SubProblem& sub, bool first) {
  InputRank rank;
  const Seconds a = arrival(device, tasks_.a(sub.i, sub.k), rank.missing);
  const Seconds b = arrival(device, tasks_.b(sub.k, sub.j), rank.missing);
  rank.eta = std::max(a, b);
  if (!first) return rank;
  if (const std::optional<Seconds> c =
          outputs_.arrival(tasks_.task(sub, true, false).writes, device))
    rank.eta = std::max(rank.eta, *c), ++rank.missing;
  return rank;
}

OwnersByArrival::Choice OwnersByArrival::best(size_t device) {
  ++task_;
  const auto& [depth, all] = devices_[device];
  std::optional<Choice> best;
  size_t seen = 0;
  for (size_t o = 0; o < all.size() && seen < window; ++o) {
    const TileProgress& open = all[o];
    for (size_t k = 0; k < open.choices() && seen < window; ++k, ++seen) {
      const InputRank here =
          rank(device, {open.tile.i, open.tile.j, open.k(k, depth)}, !open.started);
      if (!best || here.before(best->rank)) best = Choice{o, k, here};
    }
  }
  return *best;
}

std::optional<Task> OwnersByArrival::next(size_t device) {
  auto& [depth, all] = devices_[device];
  if (all.empty()) return std::nullopt;
  const Choice choice = best(device);
  TileProgress& open = all[choice.open];
  const SubProblem sub{open.tile.i, open.tile.j, open.k(choice.k, depth)};
  const bool first = !open.started,
             last = first ? depth.size() == 1 : open.between.empty();
  if (!first && !last) open.between.erase(open.between.begin() + ptrdiff_t(choice.k));
  open.started = true;
  look_further(open, depth);
  if (last) all.erase(all.begin() + ptrdiff_t(choice.open));
  return tasks_.task(sub, first, last);
}

}  // namespace tilerail
