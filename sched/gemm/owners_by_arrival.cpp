#include "sched/gemm/owners_by_arrival.hpp"

#include <algorithm>

namespace tilerail {

OwnersByArrival::OwnersByArrival(const GemmTasks& tasks, const Tiling& tiling, const Fetcher& fetcher)
    : tasks_{tasks}, tiling_{tiling}, fetcher_{fetcher}, open_(tiling.devices()), known_(tasks.inputs()) {
  for (std::size_t d = 0; d < open_.size(); ++d) {
    const Interval depth = tiling.depth_of(d);
    if (depth.size() == 0) continue;
    std::vector<std::int64_t> between;
    for (std::int64_t k = depth.begin + 1; k + 1 < depth.end; ++k) between.push_back(k);
    for (const TileOfC tile : tiling.tiles_of(d)) open_[d].push_back({tile, between});
  }
}

std::vector<std::int64_t> OwnersByArrival::candidates(const Open& open, Interval depth) const {
  if (!open.started) return {depth.begin};
  return open.between.empty() ? std::vector{depth.end - 1} : open.between;
}

Seconds OwnersByArrival::arrival(std::size_t device, TileId tile, int& missing) {
  Known& known = known_[tile.index()];
  if (known.asked != task_) {
    const Seconds there = fetcher_.directory().there(tile, device);
    known = {task_, there, there == TileDirectory::nowhere};
    if (known.missing) known.eta = fetcher_.eta(tile, device);
  }
  missing += known.missing;
  return known.eta;
}

OwnersByArrival::Rank OwnersByArrival::rank(std::size_t device, const SubProblem& sub) {
  Rank rank;
  const Seconds a = arrival(device, tasks_.a(sub.i, sub.k), rank.missing);
  const Seconds b = arrival(device, tasks_.b(sub.k, sub.j), rank.missing);
  rank.eta = std::max(a, b);
  return rank;
}

OwnersByArrival::Choice OwnersByArrival::best(std::size_t device) {
  constexpr Seconds tie{1e-12};
  const auto before = [&](const Rank& a, const Rank& b) {
    if (a.eta < b.eta - tie || b.eta < a.eta - tie) return a.eta < b.eta;
    return a.missing < b.missing;
  };
  ++task_;
  std::optional<Choice> best;
  std::size_t seen = 0;
  for (std::size_t o = 0; o < open_[device].size() && seen < window; ++o) {
    const Open& open = open_[device][o];
    const std::vector<std::int64_t> ks = candidates(open, tiling_.depth_of(device));
    for (std::size_t k = 0; k < ks.size() && seen < window; ++k, ++seen) {
      const Rank here = rank(device, {open.tile.i, open.tile.j, ks[k]});
      if (!best || before(here, best->rank)) best = Choice{o, k, here};
    }
  }
  return *best;
}

std::optional<Task> OwnersByArrival::next(std::size_t device) {
  std::vector<Open>& all = open_[device];
  if (all.empty()) return std::nullopt;
  const Interval depth = tiling_.depth_of(device);
  const Choice choice = best(device);
  Open& open = all[choice.open];
  const SubProblem sub{open.tile.i, open.tile.j, candidates(open, depth)[choice.k]};
  const bool first = !open.started, last = first ? depth.size() == 1 : open.between.empty();
  if (!first && !last) open.between.erase(open.between.begin() + static_cast<std::ptrdiff_t>(choice.k));
  open.started = true;
  if (last) all.erase(all.begin() + static_cast<std::ptrdiff_t>(choice.open));
  return tasks_.task(sub, first, last);
}

}  // namespace tilerail
