#include "sched/gemm/elementwise.hpp"

#include <algorithm>

#include "sched/gemm/c_tiles.hpp"
#include "sched/tasks/tile_cache.hpp"

namespace tilerail {
namespace {

/// Of C, or of y.
CTileLife::Shape largest_tile(const Tiling& tiling) {
  CTileLife::Shape largest;
  for (const Interval rows : tiling.m) largest.rows = std::max(largest.rows, rows.size());
  for (const Interval cols : tiling.n) largest.cols = std::max(largest.cols, cols.size());
  return largest;
}

class ElementwisePlanner {
 public:
  ElementwisePlanner(PlanContext& context, const Tiling& tiling, double beta)
      : context_{context},
        tiling_{tiling},
        reads_x_{context.problem.alpha != 0 && context.problem.k > 0},
        x_{context, tiles_of_x()},
        c_tiles_{context, false, beta, largest_tile(tiling), x_} {}

  void run() {
    bool any = true;
    for (std::size_t turn = 0; any; ++turn) {
      any = false;
      for (std::size_t d = 0; d < tiling_.devices(); ++d) {
        if (turn >= tiling_.tiles_of(d).size()) continue;
        update(d, turn);
        any = true;
      }
    }
  }

 private:
  std::vector<TileCache::Tile> tiles_of_x() const {
    std::vector<TileCache::Tile> tiles;
    for (std::int64_t i = 0; reads_x_ && i < static_cast<std::int64_t>(tiling_.m.size()); ++i) {
      const Interval rows = tiling_.m[static_cast<std::size_t>(i)];
      tiles.push_back(
          {{context_.matrix_a, rows.begin, 0, rows.size(), 1}, context_.problem.place_a, {tiling_.owner({i, 0})}});
    }
    return tiles;
  }

  void update(std::size_t d, std::size_t turn) {
    const TileOfC at = tiling_.tiles_of(d)[turn];
    const Interval rows = tiling_.m[static_cast<std::size_t>(at.i)], cols = tiling_.n[static_cast<std::size_t>(at.j)];
    const auto x = static_cast<std::size_t>(at.i);
    TileCache::Input in;
    if (reads_x_) {
      in = x_.fetch(x, d);
      x_.pin(x, d, true);
    }
    const CTileLife::Open tile =
        c_tiles_.begin({context_.matrix_c, rows.begin, cols.begin, rows.size(), cols.size()}, d);
    Op op;
    op.kind = OpKind::axpby;
    op.queue =
        context_.builder.compute_queue(context_.devices[d], static_cast<int>(turn) % context_.policy.compute_streams);
    op.a = in.view, op.y = tile.work;
    op.alpha = reads_x_ ? context_.problem.alpha : 0, op.beta = tile.beta;
    Deps deps;
    deps.after(in.arrival).after(tile.loaded);
    if (!tile.in_place) deps.after(tile.slot.former);
    const OpId done = context_.emit(d, op, deps);
    if (reads_x_) {
      x_.pin(x, d, false);
      x_.used(x, d, done);
    }
    c_tiles_.end(tile, d, op.queue, done, std::max(in.eta, tile.eta) + seconds(d, op));
  }

  double seconds(std::size_t d, const Op& op) const {
    const int reads = (op.alpha != 0 ? 1 : 0) + (op.beta != 0 ? 1 : 0);
    return context_.topology.kernels_of(context_.devices[d])
        .axpby_time(op.y.rows, op.y.cols, context_.problem.dtype, reads, 1)
        .value;
  }

  PlanContext& context_;
  const Tiling& tiling_;
  bool reads_x_;
  TileCache x_;
  CTileLife c_tiles_;
};

}  // namespace

void plan_elementwise(PlanContext& context, const Tiling& tiling, double beta) {
  ElementwisePlanner{context, tiling, beta}.run();
}

}  // namespace tilerail
