#include "sched/gemm/dot_planner.hpp"

#include <algorithm>

#include "sched/gemm/decomposition.hpp"
#include "sched/tasks/tile_cache.hpp"

namespace tilerail {
namespace {

View rows_of(BufferId vector, Interval rows) { return {vector, rows.begin, 0, rows.size(), 1}; }

class DotPlanner {
 public:
  DotPlanner(PlanContext& context, std::int64_t tile)
      : context_{context}, parts_{parts(context, tile)}, cache_{context, tiles()} {}

  void run() {
    std::size_t most = 0;
    for (Part& part : parts_) {
      part.sum = result_in_place(part) ? View{context_.matrix_c, 0, 0, 1, 1} : take_scalar(part).view;
      most = std::max(most, part.tiles.size());
    }
    for (std::size_t turn = 0; turn < most; ++turn)
      for (Part& part : parts_)
        if (turn < part.tiles.size()) multiply(part, turn);
    for (std::size_t other = 1; other < parts_.size(); ++other) add_sum_of(parts_[other]);
    if (!result_in_place(parts_[0])) {
      Deps deps;
      deps.after(parts_[0].last);
      copy(parts_[0], parts_[0].sum, {context_.matrix_c, 0, 0, 1, 1}, deps);
    }
  }

 private:
  struct Part {
    std::size_t device = 0;
    std::vector<Interval> tiles;
    std::size_t first_tile = 0;  // in the cache: x and y of each tile in turn
    View sum;
    LastUses former;  // uses of the memory of `sum` before
    std::optional<OpId> last;
  };
  struct Scalar {
    View view;
    Arena::Slot slot;
  };

  static std::vector<Part> parts(const PlanContext& context, std::int64_t tile) {
    std::vector<std::size_t> devices;
    for (std::size_t d = 0; d < context.devices.size(); ++d)
      if (d == 0 || context.topology.has_route(context.devices[d], context.devices[0])) devices.push_back(d);
    devices.resize(static_cast<std::size_t>(
        std::min(static_cast<std::int64_t>(devices.size()), context.problem.k)));  // an element each, at least
    std::vector<Part> parts;
    std::size_t first_tile = 0;
    const auto pieces = split_evenly(context.problem.k, static_cast<int>(devices.size()));
    for (std::size_t i = 0; i < devices.size(); ++i) {
      Part part;
      part.device = devices[i], part.tiles = split_tiles(pieces[i], tile), part.first_tile = first_tile;
      first_tile += 2 * part.tiles.size();
      parts.push_back(std::move(part));
    }
    return parts;
  }

  std::vector<TileCache::Tile> tiles() const {
    const GemmProblem& p = context_.problem;
    std::vector<TileCache::Tile> all;
    for (const Part& part : parts_)
      for (const Interval rows : part.tiles) {
        all.push_back({rows_of(context_.matrix_a, rows), p.place_a, {part.device}});
        all.push_back({rows_of(context_.matrix_b, rows), p.place_b, {part.device}});
      }
    return all;
  }

  bool result_in_place(const Part& part) const {
    return &part == &parts_[0] && context_.problem.place_c == context_.devices[part.device];
  }

  Scalar take_scalar(Part& part) {
    Arena::Slot slot = context_.arenas[part.device].take(1, 1, element_size(context_.problem.dtype),
                                                         [&] { cache_.evict_one(part.device); });
    part.former = slot.former;
    return {{slot.buffer, 0, 0, 1, 1}, slot};
  }

  void multiply(Part& part, std::size_t turn) {
    const std::size_t d = part.device, x = part.first_tile + 2 * turn, y = x + 1;
    Deps deps;
    Op op;
    op.kind = OpKind::gemm;
    op.queue = compute(part);
    op.trans_a = Trans::yes;
    op.alpha = context_.problem.alpha, op.beta = turn == 0 ? 0 : 1;
    const TileCache::Input in_x = cache_.fetch(x, d);
    cache_.pin(x, d, true);
    const TileCache::Input in_y = cache_.fetch(y, d);
    op.a = in_x.view, op.b = in_y.view, op.y = part.sum;
    deps.after(in_x.arrival).after(in_y.arrival);
    if (turn == 0) deps.after(part.former);
    part.last = context_.emit(d, op, deps);
    cache_.pin(x, d, false);
    for (const std::size_t tile : {x, y}) cache_.used(tile, d, *part.last);
  }

  void add_sum_of(const Part& other) {
    Part& first = parts_[0];
    const Scalar there = take_scalar(first);
    Deps arrived, added;
    arrived.after(other.last).after(there.slot.former);
    added.after(copy(first, other.sum, there.view, arrived));
    Op op;
    op.kind = OpKind::axpby;
    op.queue = compute(first);
    op.a = there.view, op.y = first.sum;
    op.alpha = op.beta = 1;
    first.last = context_.emit(first.device, op, added);
    LastUses uses;
    uses.add(op.queue, *first.last);
    context_.arenas[first.device].give_back(there.slot, uses);
  }

  OpId copy(const Part& on_behalf, const View& from, const View& to, Deps& deps) {
    const auto memory = [&](const View& view) { return context_.builder.plan().buffer(view.buffer).memory; };
    Op op;
    op.queue = context_.builder.copy_queue(memory(from), memory(to));
    op.a = from, op.y = to;
    return context_.emit(on_behalf.device, op, deps);
  }

  /// The products of a device follow one another: each adds to the same sum.
  QueueId compute(const Part& part) const { return context_.builder.compute_queue(context_.devices[part.device], 0); }

  PlanContext& context_;
  std::vector<Part> parts_;
  TileCache cache_;
};

}  // namespace

void plan_dot(PlanContext& context, std::int64_t tile) { DotPlanner{context, tile}.run(); }

}  // namespace tilerail
