#include "sched/gemm/order.hpp"

#include <algorithm>

namespace tilerail {

DynamicOrder::DynamicOrder(const Tiling& tiling, Order order, const TileCache& cache)
    : tiling_{tiling}, index_{tiling}, order_{order}, cache_{cache}, devices_(tiling.devices()) {
  for (std::size_t d = 0; d < devices_.size(); ++d)
    for (const TileOfC tile : tiling.tiles_of(d)) devices_[d].waiting.push_back({tile.i, tile.j, 0});
}

DynamicOrder::Rank DynamicOrder::rank(std::size_t device, const SubProblem& sub) const {
  const std::size_t a = index_.a(sub.i, sub.k), b = index_.b(sub.k, sub.j);
  Rank rank;
  rank.missing = (cache_.present(a, device) ? 0 : 1) + (cache_.present(b, device) ? 0 : 1);
  if (order_ == Order::eta) rank.eta = std::max(cache_.eta(a, device), cache_.eta(b, device));
  return rank;
}

bool DynamicOrder::before(const Rank& a, const Rank& b) const {
  constexpr double tie = 1e-12;  // seconds
  if (order_ == Order::eta && (a.eta < b.eta - tie || b.eta < a.eta - tie)) return a.eta < b.eta;
  return a.missing < b.missing;
}

void DynamicOrder::start_tile(std::size_t device) {
  Device& d = devices_[device];
  std::size_t best = 0;
  if (order_ != Order::fifo) {
    Rank best_rank = rank(device, d.waiting[0]);
    for (std::size_t c = 1; c < std::min(window, d.waiting.size()); ++c)
      if (const Rank r = rank(device, d.waiting[c]); before(r, best_rank)) best = c, best_rank = r;
  }
  d.open = d.waiting[best];
  d.waiting.erase(d.waiting.begin() + static_cast<std::ptrdiff_t>(best));
  d.open_k.resize(tiling_.k.size());
  for (std::size_t k = 0; k < d.open_k.size(); ++k) d.open_k[k] = static_cast<std::int64_t>(k);
}

std::optional<DynamicOrder::Choice> DynamicOrder::next(std::size_t device) {
  Device& d = devices_[device];
  if (d.open_k.empty()) {
    if (d.waiting.empty()) return std::nullopt;
    start_tile(device);
  }
  Choice choice{d.open, d.open_k.size() == tiling_.k.size(), d.open_k.size() == 1};
  std::size_t best = 0;
  if (order_ != Order::fifo) {
    Rank best_rank = rank(device, {d.open.i, d.open.j, d.open_k[0]});
    for (std::size_t c = 1; c < std::min(window, d.open_k.size()); ++c)
      if (const Rank r = rank(device, {d.open.i, d.open.j, d.open_k[c]}); before(r, best_rank)) best = c, best_rank = r;
  }
  choice.sub.k = d.open_k[best];
  d.open_k.erase(d.open_k.begin() + static_cast<std::ptrdiff_t>(best));
  return choice;
}

BlockedOrder blocked_order(const Tiling& tiling, std::size_t device, std::int64_t slots) {
  const std::vector<std::int64_t>&rows = tiling.rows_of(device), &cols = tiling.cols_of(device);
  const auto row_count = static_cast<std::int64_t>(rows.size()), col_count = static_cast<std::int64_t>(cols.size());
  const auto depth = static_cast<std::int64_t>(tiling.k.size());
  BlockedOrder order;
  double best = 0;
  for (std::int64_t mb = 1; mb <= row_count && mb < slots; ++mb) {
    const std::int64_t nb = std::min(col_count, (slots - 2 - 2 * mb) / (mb + 2));
    if (nb < 1) break;
    const double kernels_per_fetch = static_cast<double>(mb * nb) / static_cast<double>(mb + nb);
    if (kernels_per_fetch > best) best = kernels_per_fetch, order.block_rows = mb, order.block_cols = nb;
  }
  bool forward = true;
  std::vector<TileOfC> block;
  for (std::int64_t i0 = 0; i0 < row_count; i0 += order.block_rows)
    for (std::int64_t j0 = 0; j0 < col_count; j0 += order.block_cols) {
      block.clear();
      for (std::int64_t i = i0; i < std::min(i0 + order.block_rows, row_count); ++i)
        for (std::int64_t j = j0; j < std::min(j0 + order.block_cols, col_count); ++j) {
          const TileOfC tile{rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)]};
          if (tiling.owner(tile) == device) block.push_back(tile);
        }
      if (block.empty()) continue;
      for (std::int64_t step = 0; step < depth; ++step)
        for (const TileOfC tile : block)
          order.sequence.push_back({{tile.i, tile.j, forward ? step : depth - 1 - step}, step == 0, step + 1 == depth});
      forward = !forward;
    }
  return order;
}

}  // namespace tilerail
