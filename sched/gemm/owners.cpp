#include "sched/gemm/owners.hpp"

#include <algorithm>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {

OwnersByClock::OwnersByClock(const GemmTasks& tasks, const Tiling& tiling, Order order,
                             const Fetcher& fetcher)
    : tasks_{tasks},
      tiling_{tiling},
      order_{order},
      fetcher_{fetcher},
      devices_(tiling.devices()) {
  for (const auto d : indices(devices_)) {
    const IndexRange depth = tiling.depth_of(d);
    if (depth.size() == 0) continue;
    for (const TileOfC tile : tiling.tiles_of(d))
      devices_[d].waiting.push_back({tile.i, tile.j, depth.begin});
  }
}

InputRank OwnersByClock::rank(size_t device, const SubProblem& sub) const {
  const TileId a = tasks_.a(sub.i, sub.k), b = tasks_.b(sub.k, sub.j);
  const TileDirectory& directory = fetcher_.directory();
  const Seconds a_there = directory.there(a, device),
                b_there = directory.there(b, device);
  const bool a_missing = a_there == TileDirectory::nowhere,
             b_missing = b_there == TileDirectory::nowhere;
  if (order_ != Order::eta) return {Seconds{0}, a_missing + b_missing};
  return {std::max(a_missing ? fetcher_.eta(a, device) : a_there,
                   b_missing ? fetcher_.eta(b, device) : b_there),
          a_missing + b_missing};
}

/// The index of the best of candidate(0), candidate(1), ...
template <class Candidate>
size_t OwnersByClock::first_of(size_t device, size_t count,
                               const Candidate& candidate) const {
  size_t best = 0;
  if (order_ == Order::fifo) return best;
  InputRank best_rank = rank(device, candidate(0));
  for (size_t c = 1; c < count; ++c)
    if (const InputRank r = rank(device, candidate(c)); r.before(best_rank))
      best = c, best_rank = r;
  return best;
}

void OwnersByClock::look_further(size_t device) {
  Device& d = devices_[device];
  const int64_t end = tiling_.depth_of(device).end;
  while (d.k.size() < window && d.next_k < end) d.k.push_back(d.next_k++);
}

void OwnersByClock::start_tile(size_t device) {
  Device& d = devices_[device];
  const size_t best = first_of(device, std::min(window, d.waiting.size()),
                               [&](size_t c) { return d.waiting[c]; });
  d.open = d.waiting[best];
  d.waiting.erase(d.waiting.begin() + ptrdiff_t(best));
  d.next_k = tiling_.depth_of(device).begin, d.untouched = true;
  look_further(device);
}

std::optional<Task> OwnersByClock::next(size_t device) {
  Device& d = devices_[device];
  if (d.k.empty()) {
    if (d.waiting.empty()) return std::nullopt;
    start_tile(device);
  }
  const size_t best = first_of(device, d.k.size(), [&](size_t c) {
    return SubProblem{d.open.i, d.open.j, d.k[c]};
  });
  const SubProblem sub{d.open.i, d.open.j, d.k[best]};
  d.k.erase(d.k.begin() + ptrdiff_t(best));
  look_further(device);
  return tasks_.task(sub, std::exchange(d.untouched, false), d.k.empty());
}

OwnersInBlocks::Blocks OwnersInBlocks::blocks(const Tiling& tiling, size_t device,
                                              int64_t slots) {
  const auto rows = int64_t(tiling.rows_of(device).size());
  const auto cols = int64_t(tiling.cols_of(device).size());
  Blocks blocks;
  double best = 0;
  for (int64_t mb = 1; mb <= rows && mb < slots; ++mb) {
    const int64_t nb = std::min(cols, (slots - 2 - 2 * mb) / (mb + 2));
    if (nb < 1) break;
    const double kernels_per_fetch = double(mb * nb) / double(mb + nb);
    if (kernels_per_fetch > best) best = kernels_per_fetch, blocks = {mb, nb};
  }
  return blocks;
}

std::vector<Task> OwnersInBlocks::sequence_of(const GemmTasks& tasks,
                                              const Tiling& tiling, size_t device,
                                              Blocks blocks) {
  const std::vector<int64_t>&rows = tiling.rows_of(device),
        &cols = tiling.cols_of(device);
  const auto row_count = int64_t(rows.size()), col_count = int64_t(cols.size());
  const IndexRange depth = tiling.depth_of(device);
  std::vector<Task> sequence;
  bool forward = true;
  std::vector<TileOfC> block;
  for (int64_t i0 = 0; i0 < row_count; i0 += blocks.rows)
    for (int64_t j0 = 0; j0 < col_count; j0 += blocks.cols) {
      block.clear();
      for (int64_t i = i0; i < std::min(i0 + blocks.rows, row_count); ++i)
        for (int64_t j = j0; j < std::min(j0 + blocks.cols, col_count); ++j) {
          const TileOfC tile{rows[size_t(i)], cols[size_t(j)]};
          if (tiling.owner(tile) == device) block.push_back(tile);
        }
      if (block.empty()) continue;
      for (int64_t step = 0; step < depth.size(); ++step)
        for (const TileOfC tile : block)
          sequence.push_back(tasks.task(
              {tile.i, tile.j, forward ? depth.begin + step : depth.end - 1 - step},
              step == 0, step + 1 == depth.size()));
      forward = !forward;
    }
  return sequence;
}

OwnersInBlocks::OwnersInBlocks(const GemmTasks& tasks, const Tiling& tiling,
                               const std::vector<int64_t>& slots,
                               TileDirectory& directory)
    : directory_{directory}, devices_(tiling.devices()) {
  for (const auto d : indices(devices_)) {
    Device& device = devices_[d];
    device.sequence = sequence_of(tasks, tiling, d, blocks(tiling, d, slots[d]));
    device.uses.resize(tasks.inputs());
    for (size_t at = device.sequence.size(); at-- > 0;)
      for (const TileId tile : device.sequence[at].reads)
        device.uses[tile.index()].push_back(int64_t(at));
    for (const auto tile : indices(device.uses))
      if (!device.uses[tile].empty())
        directory.set_next_use(TileId{tile}, d, device.uses[tile].back());
  }
}

std::optional<Task> OwnersInBlocks::next(size_t device) {
  Device& d = devices_[device];
  if (d.next == d.sequence.size()) return std::nullopt;
  return d.sequence[d.next++];
}

void OwnersInBlocks::placed(size_t device, const Task& task) {
  for (const TileId tile : task.reads) {
    auto& uses = devices_[device].uses[tile.index()];
    uses.pop_back();
    directory_.set_next_use(tile, device,
                            uses.empty() ? TileDirectory::never : uses.back());
  }
}

}  // namespace tilerail
