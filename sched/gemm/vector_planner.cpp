#include <algorithm>
#include <vector>

#include "model/base/indices.hpp"
#include "sched/gemm/owned_tiles.hpp"
#include "sched/gemm/region_planner.hpp"
#include "sched/place/loop.hpp"

namespace tilerail {
namespace {

View rows_of(BufferId vector, IndexRange rows) {
  return {vector, rows.begin, 0, rows.size(), 1};
}

/// Products of pairs of tiles, each added to the sum of its device; finally the total on
/// the first device.
class Dot final : public Chooser, public Outputs {
 public:
  Dot(PlanContext& context, const GemmProblem& problem, int64_t tile,
      const Borders& borders)
      : context_{context}, inputs_{context, cut(problem.k, tile, borders)} {
    for (Part& part : parts_) {
      part.sum = result();
      if (part.device == 0 && at_home() && !problem.rounds()) continue;
      const Arena::Slot slot = take(part.device, sum_type(problem.dtype));
      part.sum = {slot.buffer, 0, 0, 1, 1}, part.former = slot.former;
    }
  }

  TileDirectory& inputs() { return inputs_; }

  std::optional<Task> next(size_t device) override {
    Part* const part = part_of(device);
    if (!part || part->next_tile == part->end_tile) return std::nullopt;
    Task task;
    task.op.trans_a = Trans::yes, task.op.alpha = Scalar::alpha;
    task.first = part->next_tile == part->first_tile;
    task.reads = {TileId{part->next_tile}, TileId{part->next_tile + 1}};
    part->next_tile += 2;
    return task;
  }

  /// The products of a device run in sequence: each adds to the same sum.
  Place open(const Task& task, size_t device, Deps& deps) override {
    const Part& part = *part_of(device);
    if (task.first) deps.after(part.former);
    return {part.sum, compute(device), task.first ? Scalar::zero : Scalar::one,
            Seconds{0}};
  }

  void written(const Task& /*task*/, size_t device, OpId kernel,
               Seconds /*end*/) override {
    part_of(device)->last = kernel;
  }

  /// Adds the other sums to the first, rounds it, and copies the result home.
  void end() override {
    for (size_t other = 1; other < parts_.size(); ++other) add_sum_of(parts_[other]);
    if (context_.dtype(parts_.front().sum) != context_.dtype(result())) round();
    if (at_home()) return;
    Deps deps;
    deps.after(parts_.front().last);
    copy(parts_.front().sum, result(), deps);
  }

 private:
  /// The tiles of x and y of one device; in the directory, x and y alternate.
  struct Part {
    size_t device, first_tile, next_tile, end_tile;
    View sum = {};
    LastUses former = {};  // previous uses of its memory
    std::optional<OpId> last = {};
  };

  std::vector<TileDirectory::Tile> cut(int64_t k, int64_t tile, const Borders& borders) {
    std::vector<size_t> devices;
    for (const auto d : indices(context_.devices))
      if (d == 0 || context_.topology.has_route(context_.devices[d], context_.devices[0]))
        devices.push_back(d);
    devices.resize(
        size_t(std::min(int64_t(devices.size()), k)));  // at least one element each
    std::vector<TileDirectory::Tile> tiles;
    const auto pieces = split_evenly(k, int(devices.size()));
    for (const auto i : indices(devices)) {
      const size_t first = tiles.size();
      for (const IndexRange rows : split_tiles(pieces[i], tile, borders.k)) {
        tiles.push_back({rows_of(context_.whole(tensor_a), rows), {devices[i]}});
        tiles.push_back({rows_of(context_.whole(tensor_b), rows), {devices[i]}});
      }
      parts_.push_back({devices[i], first, first, tiles.size()});
    }
    return tiles;
  }

  Part* part_of(size_t device) {
    const auto found = std::ranges::find(parts_, device, &Part::device);
    return found == parts_.end() ? nullptr : &*found;
  }
  bool at_home() const { return context_.memory(result()) == context_.devices[0]; }
  View result() const {
    return context_.builder.in_block({context_.whole(tensor_c), 0, 0, 1, 1});
  }
  QueueId compute(size_t device) const {
    return context_.builder.compute_queue(context_.devices[device], 0);
  }
  Arena::Slot take(size_t device, DType dtype) {
    Buffer block = context_.block(result());
    block.dtype = dtype;
    return context_.arenas[device].take(block,
                                        [this, device] { inputs_.evict_one(device); });
  }

  void add_sum_of(const Part& other) {
    const Arena::Slot there = take(0, context_.dtype(other.sum));
    Deps arrived, added;
    arrived.after(other.last).after(there.former);
    const View fetched{there.buffer, 0, 0, 1, 1};
    added.after(copy(other.sum, fetched, arrived));
    axpby(fetched, Scalar::one, parts_.front().sum, added);
    LastUses uses;
    uses.add(compute(0), *parts_.front().last);
    context_.arenas[0].give_back(there, uses);
  }

  void round() {
    Deps deps;
    View rounded = result();
    if (!at_home()) {
      const Arena::Slot slot = take(0, context_.dtype(result()));
      rounded = {slot.buffer, 0, 0, 1, 1};
      deps.after(slot.former);
    }
    axpby(parts_.front().sum, Scalar::zero, rounded, deps);
    parts_.front().sum = rounded;
  }

  /// y = x + beta y on the first device.
  void axpby(const View& x, Scalar beta, const View& y, Deps& deps) {
    const Op op{.kind = OpKind::axpby, .beta = beta, .queue = compute(0)};
    parts_.front().last = context_.emit(0, op, {x, y}, deps);
  }

  OpId copy(const View& from, const View& to, Deps& deps) {
    const Op op{
        .queue = context_.builder.copy_queue(context_.memory(from), context_.memory(to))};
    return context_.emit(parts_.front().device, op, {from, to}, deps);
  }

  PlanContext& context_;
  std::vector<Part> parts_;  // the first belongs to device 0
  TileDirectory inputs_;
};

/// y = alpha x + beta y, or C = beta C: one task per written tile, run by its owner, in
/// the order of the tiling. Tiles of x, if read, are numbered first, then written tiles.
class ElementwiseTasks final : public Chooser {
 public:
  ElementwiseTasks(const PlanContext& context, const GemmProblem& problem,
                   const Tiling& tiling)
      : context_{context}, tiling_{tiling}, next_(tiling.devices(), 0) {
    if (problem.scales_only()) return;
    for (const auto i : indices(tiling.m))
      tiles_of_x_.push_back({rows_of(context.whole(tensor_a), tiling.m[i]),
                             {tiling.owner({int64_t(i), 0})}});
  }

  const std::vector<TileDirectory::Tile>& tiles_of_x() const { return tiles_of_x_; }

  View home_of(TileId tile) const {
    const size_t number = tile.index() - tiles_of_x_.size();
    const IndexRange rows = tiling_.m[number / tiling_.n.size()],
                     cols = tiling_.n[number % tiling_.n.size()];
    return {context_.whole(tensor_c), rows.begin, cols.begin, rows.size(), cols.size()};
  }

  std::optional<Task> next(size_t device) override {
    if (next_[device] == tiling_.tiles_of(device).size()) return std::nullopt;
    const TileOfC at = tiling_.tiles_of(device)[next_[device]++];
    const bool reads_x = !tiles_of_x_.empty();
    Task task;
    task.op.kind = OpKind::axpby;
    task.op.alpha = reads_x ? Scalar::alpha : Scalar::zero;
    if (reads_x) task.reads[0] = TileId{size_t(at.i)};
    task.writes =
        TileId{tiles_of_x_.size() + size_t(at.i) * tiling_.n.size() + size_t(at.j)};
    task.first = task.last = true;
    return task;
  }

 private:
  const PlanContext& context_;
  const Tiling& tiling_;
  std::vector<TileDirectory::Tile> tiles_of_x_;
  std::vector<size_t> next_;  // by device
};

}  // namespace

void plan_dot(PlanContext& context, const GemmProblem& problem, int64_t tile,
              const Borders& borders) {
  Dot dot{context, problem, tile, borders};
  Fetcher fetcher{context, dot.inputs()};
  TaskLoop{context, fetcher, dot, dot}.run();
}

void plan_elementwise(PlanContext& context, const GemmProblem& problem,
                      const Tiling& tiling, Scalar beta) {
  ElementwiseTasks tasks{context, problem, tiling};
  TileDirectory inputs{context, tasks.tiles_of_x()};
  Fetcher fetcher{context, inputs};
  const auto home_of = [&](TileId tile) { return tasks.home_of(tile); };
  OwnedTiles outputs{
      context,
      inputs,
      {false, beta, {longest(tiling.m), longest(tiling.n)}, false, home_of}};
  TaskLoop{context, fetcher, outputs, tasks}.run();
}

}  // namespace tilerail
