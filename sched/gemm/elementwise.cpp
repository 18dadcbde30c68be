#include "sched/gemm/elementwise.hpp"

#include <vector>

#include "sched/gemm/owned_tiles.hpp"
#include "sched/place/loop.hpp"

namespace tilerail {
namespace {

/// y = alpha x + beta y, or C = beta C: one task for each tile that is written, by its owner, in the order of the
/// tiling. Tiles of x are numbered first, if they are read, then those that are written.
class ElementwiseTasks final : public Chooser {
 public:
  ElementwiseTasks(const PlanContext& context, const Tiling& tiling)
      : context_{context}, tiling_{tiling}, reads_x_{!context.problem.scales_only()}, next_(tiling.devices(), 0) {}

  std::vector<TileDirectory::Tile> tiles_of_x() const {
    std::vector<TileDirectory::Tile> tiles;
    for (size_t i = 0; i < inputs(); ++i) {
      const Interval rows = tiling_.m[i];
      tiles.push_back({{context_.matrix_a, rows.begin, 0, rows.size(), 1},
                       context_.problem.place_a,
                       {tiling_.owner({int64_t(i), 0})}});
    }
    return tiles;
  }

  View home_of(TileId tile) const {
    const size_t number = tile.index() - inputs();
    const Interval rows = tiling_.m[number / tiling_.n.size()], cols = tiling_.n[number % tiling_.n.size()];
    return {context_.matrix_c, rows.begin, cols.begin, rows.size(), cols.size()};
  }

  std::optional<Task> next(size_t device) override {
    if (next_[device] == tiling_.tiles_of(device).size()) return std::nullopt;
    const TileOfC at = tiling_.tiles_of(device)[next_[device]++];
    Task task;
    task.kind = OpKind::axpby;
    task.alpha = reads_x_ ? Scalar::alpha : Scalar::zero;
    if (reads_x_) task.reads[0] = TileId{size_t(at.i)};
    task.writes = TileId{inputs() + size_t(at.i) * tiling_.n.size() + size_t(at.j)};
    task.first = task.last = true;
    return task;
  }

 private:
  size_t inputs() const { return reads_x_ ? tiling_.m.size() : 0; }

  const PlanContext& context_;
  const Tiling& tiling_;
  bool reads_x_;
  std::vector<size_t> next_;  // by device
};

}  // namespace

void plan_elementwise(PlanContext& context, const Tiling& tiling, Scalar beta) {
  ElementwiseTasks tasks{context, tiling};
  TileDirectory inputs{context, tasks.tiles_of_x()};
  Fetcher fetcher{context, inputs};
  OwnedTiles outputs{context, inputs, {false, beta, {longest(tiling.m), longest(tiling.n)}, [&](TileId tile) {
                                         return tasks.home_of(tile);
                                       }}};
  TaskLoop{context, fetcher, outputs, tasks}.run();
}

}  // namespace tilerail
