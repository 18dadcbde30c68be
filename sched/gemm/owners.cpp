#include "sched/gemm/owners.hpp"

#include <algorithm>
#include <utility>

#include "model/base/extents.hpp"
#include "model/base/indices.hpp"

namespace tilerail {

OwnersByClock::OwnersByClock(const GemmTasks& tasks, const Tiling& tiling, Order order,
                             const Fetcher& fetcher)
    : tasks_{tasks}, order_{order}, fetcher_{fetcher}, devices_(tiling.devices()) {
  for (const auto d : indices(devices_)) OwnersByClock::begin(d, whole_share(tiling, d));
}

void OwnersByClock::begin(size_t device, const Share& share) {
  Device& d = devices_[device];
  d.depth = share.depth;
  if (share.depth.size() == 0) return;
  d.waiting.clear();
  for (const TileOfC tile : share.tiles)
    d.waiting.push_back({tile.i, tile.j, share.depth.begin});
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
  while (d.k.size() < window && d.next_k < d.depth.end) d.k.push_back(d.next_k++);
}

void OwnersByClock::start_tile(size_t device) {
  Device& d = devices_[device];
  const size_t best = first_of(device, std::min(window, d.waiting.size()),
                               [&](size_t c) { return d.waiting[c]; });
  d.open = d.waiting[best];
  d.waiting.erase(d.waiting.begin() + ptrdiff_t(best));
  d.next_k = d.depth.begin, d.untouched = true;
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

namespace {

struct BlockOfC {
  int64_t rows = 1, cols = 1;  // in tiles
};

/// The block with the most kernels for each fetched tile, mb nb / (mb + nb), that fits:
/// its tiles of C, the inputs of kb steps and of one more, and two C_in; with all of k
/// one tile of C after another, and thus only the shorter panel and two of the other
/// panel's rows or columns.
BlockOfC block_for(int64_t rows, int64_t cols, int64_t slots, int64_t kb, bool all_k) {
  const auto fits = [&](int64_t mb, int64_t nb) {
    const int64_t room = slots - 2;
    return all_k ? (std::min(mb, nb) + 2) * kb + 2 <= room
                 : mb * nb + (mb + nb) * (kb + 1) <= room;
  };
  BlockOfC block;
  double best = 0;
  for (int64_t mb = 1; mb <= rows; ++mb)
    for (int64_t nb = cols; nb > 0; --nb) {
      if (!fits(mb, nb)) continue;
      const double kernels_per_fetch = double(mb * nb) / double(mb + nb);
      if (kernels_per_fetch > best) best = kernels_per_fetch, block = {mb, nb};
      break;
    }
  return block;
}

}  // namespace

std::vector<Share> parts_of(const Tiling& tiling, size_t device, int64_t slots,
                            int64_t kb, bool in_turn) {
  const std::vector<int64_t>&rows = tiling.rows_of(device),
        &cols = tiling.cols_of(device);
  const auto row_count = int64_t(rows.size()), col_count = int64_t(cols.size());
  const IndexRange depth = tiling.depth_of(device);
  kb = std::min(kb, depth.size());
  const BlockOfC size =
      block_for(row_count, col_count, slots, kb, in_turn && kb == depth.size());
  std::vector<Share> parts;
  bool forward = true;
  for (int64_t i0 = 0; i0 < row_count; i0 += size.rows)
    for (int64_t j0 = 0; j0 < col_count; j0 += size.cols) {
      std::vector<TileOfC> block;
      for (int64_t i = i0; i < std::min(i0 + size.rows, row_count); ++i)
        for (int64_t j = j0; j < std::min(j0 + size.cols, col_count); ++j) {
          const TileOfC tile{rows[size_t(i)], cols[size_t(j)]};
          if (tiling.owner(tile, tiling.layer_of(device)) == device)
            block.push_back(tile);
        }
      if (block.empty()) continue;
      const int64_t steps = ceil_div(depth.size(), kb);
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t k = depth.begin + kb * (forward ? step : steps - 1 - step);
        parts.push_back({block, {k, std::min(k + kb, depth.end)}});
      }
      forward = !forward;
    }
  return parts;
}

OwnersInParts::OwnersInParts(OwnersOfC& owners, const Tiling& tiling,
                             std::vector<std::vector<Share>> parts)
    : owners_{owners},
      tiling_{tiling},
      parts_{std::move(parts)},
      begun_(parts_.size()),
      order_(parts_.size()) {
  for (const auto d : indices(parts_)) begin_part(d);
}

bool OwnersInParts::begin_part(size_t device) {
  if (begun_[device] == parts_[device].size()) return false;
  owners_.begin(device, parts_[device][begun_[device]++]);
  return true;
}

std::optional<Task> OwnersInParts::next(size_t device) {
  std::optional<Task> task = owners_.next(device);
  while (!task && begin_part(device)) task = owners_.next(device);
  if (!task) return task;
  const int64_t number = planned_[task->writes]++;
  task->first = number == 0;
  task->last = number + 1 == tiling_.depth_of(device).size();
  order_[device].push_back(*task);
  return task;
}

ListedTasks::ListedTasks(TaskOrder order, TileDirectory& directory, size_t inputs)
    : order_{std::move(order)}, directory_{directory}, devices_(order_.size()) {
  for (const auto d : indices(devices_)) {
    auto& uses = devices_[d].uses;
    uses.resize(inputs);
    for (size_t at = order_[d].size(); at-- > 0;)
      for (const TileId tile : order_[d][at].reads)
        uses[tile.index()].push_back(int64_t(at));
    for (const auto tile : indices(uses))
      if (!uses[tile].empty()) directory.set_next_use(TileId{tile}, d, uses[tile].back());
  }
}

std::optional<Task> ListedTasks::next(size_t device) {
  size_t& next = devices_[device].next;
  if (next == order_[device].size()) return std::nullopt;
  return order_[device][next++];
}

void ListedTasks::placed(size_t device, const Task& task) {
  for (const TileId tile : task.reads) {
    auto& uses = devices_[device].uses[tile.index()];
    uses.pop_back();
    directory_.set_next_use(tile, device,
                            uses.empty() ? TileDirectory::never : uses.back());
  }
}

}  // namespace tilerail
