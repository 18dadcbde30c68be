#include "sched/gemm/dot_planner.hpp"

#include <algorithm>
#include <vector>

#include "model/base/indices.hpp"
#include "sched/place/loop.hpp"

namespace tilerail {
namespace {

View rows_of(BufferId vector, Interval rows) { return {vector, rows.begin, 0, rows.size(), 1}; }

/// The tiles of x and y that one device multiplies.
struct Part {
  size_t device = 0;
  std::vector<Interval> tiles;
  size_t first_tile = 0;  // in the directory: x and y of each tile in turn
};

std::vector<Part> parts_of(const PlanContext& context, int64_t tile, const Borders& borders) {
  std::vector<size_t> devices;
  for (size_t d = 0; d < context.devices.size(); ++d)
    if (d == 0 || context.topology.has_route(context.devices[d], context.devices[0])) devices.push_back(d);
  devices.resize(size_t(std::min(int64_t(devices.size()), context.problem.k)));  // an element each, at least
  std::vector<Part> parts;
  size_t first_tile = 0;
  const auto pieces = split_evenly(context.problem.k, int(devices.size()));
  for (const auto i : indices(devices)) {
    parts.push_back({devices[i], split_tiles(pieces[i], tile, borders.k), first_tile});
    first_tile += 2 * parts.back().tiles.size();
  }
  return parts;
}

std::vector<TileDirectory::Tile> tiles_of(const PlanContext& context, const std::vector<Part>& parts) {
  std::vector<TileDirectory::Tile> tiles;
  for (const Part& part : parts)
    for (const Interval rows : part.tiles) {
      tiles.push_back({rows_of(context.matrix_a, rows), context.problem.place_a, {part.device}});
      tiles.push_back({rows_of(context.matrix_b, rows), context.problem.place_b, {part.device}});
    }
  return tiles;
}

/// One task for each pair of tiles; those of a device add to its sum, which is numbered as the part is.
class Products final : public Chooser {
 public:
  Products(const std::vector<Part>& parts, size_t devices) : parts_{parts}, of_device_(devices), next_(devices) {
    for (const auto p : indices(parts)) of_device_[parts[p].device] = p;
  }

  std::optional<Task> next(size_t device) override {
    if (!of_device_[device]) return std::nullopt;
    const Part& part = parts_[*of_device_[device]];
    const size_t turn = next_[device]++;
    if (turn >= part.tiles.size()) return std::nullopt;
    Task task;
    task.trans_a = Trans::yes, task.alpha = Scalar::alpha;
    task.reads = {TileId{part.first_tile + 2 * turn}, TileId{part.first_tile + 2 * turn + 1}};
    task.writes = TileId{*of_device_[device]};
    task.first = turn == 0, task.last = turn + 1 == part.tiles.size();
    return task;
  }

 private:
  const std::vector<Part>& parts_;
  std::vector<std::optional<size_t>> of_device_;
  std::vector<size_t> next_;
};

/// The sums of the devices, and in the end that of all, on the first.
class Sums final : public Outputs {
 public:
  Sums(PlanContext& context, TileDirectory& inputs, const std::vector<Part>& parts)
      : context_{context}, inputs_{inputs} {
    for (const Part& part : parts) {
      const bool at_home = sums_.empty() && context.problem.place_c == context.devices[part.device];
      Sum sum{part.device, result(), {}, {}};
      if (!at_home) {
        const Arena::Slot slot = take(part.device);
        sum.view = {slot.buffer, 0, 0, 1, 1}, sum.former = slot.former;
      }
      sums_.push_back(sum);
    }
  }

  /// The products of a device follow one another: each adds to the same sum.
  Place open(const Task& task, size_t device, Deps& deps) override {
    const Sum& sum = sums_[task.writes.index()];
    if (task.first) deps.after(sum.former);
    return {sum.view, compute(device), task.first ? Scalar::zero : Scalar::one, Seconds{0}};
  }

  void written(const Task& task, size_t /*device*/, OpId kernel, Seconds /*end*/) override {
    sums_[task.writes.index()].last = kernel;
  }

  /// Adds the others' sums to the first, and takes the result home.
  void finish() {
    for (size_t other = 1; other < sums_.size(); ++other) add_sum_of(sums_[other]);
    const Sum& all = sums_.front();
    if (context_.problem.place_c == context_.devices[all.device]) return;
    Deps deps;
    deps.after(all.last);
    copy(all.view, result(), deps);
  }

 private:
  struct Sum {
    size_t device;
    View view;
    LastUses former;  // uses of its memory before
    std::optional<OpId> last;
  };

  View result() const { return context_.builder.in_block({context_.matrix_c, 0, 0, 1, 1}); }
  QueueId compute(size_t device) const { return context_.builder.compute_queue(context_.devices[device], 0); }
  Arena::Slot take(size_t device) {
    return context_.arenas[device].take(1, 1, context_.dtype(result()), [this, device] { inputs_.evict_one(device); });
  }

  void add_sum_of(const Sum& other) {
    Sum& first = sums_.front();
    const Arena::Slot there = take(first.device);
    Deps arrived, added;
    arrived.after(other.last).after(there.former);
    Op op;
    op.kind = OpKind::axpby;
    op.queue = compute(first.device);
    op.a = {there.buffer, 0, 0, 1, 1}, op.y = first.view;
    op.alpha = op.beta = Scalar::one;
    added.after(copy(other.view, op.a, arrived));
    first.last = context_.emit(first.device, op, added);
    LastUses uses;
    uses.add(op.queue, *first.last);
    context_.arenas[first.device].give_back(there, uses);
  }

  OpId copy(const View& from, const View& to, Deps& deps) {
    const auto memory = [&](const View& view) { return context_.builder.plan().buffer(view.buffer).memory; };
    Op op;
    op.queue = context_.builder.copy_queue(memory(from), memory(to));
    op.a = from, op.y = to;
    return context_.emit(sums_.front().device, op, deps);
  }

  PlanContext& context_;
  TileDirectory& inputs_;
  std::vector<Sum> sums_;  // by part
};

}  // namespace

void plan_dot(PlanContext& context, int64_t tile, const Borders& borders) {
  const std::vector<Part> parts = parts_of(context, tile, borders);
  TileDirectory inputs{context, tiles_of(context, parts)};
  Fetcher fetcher{context, inputs};
  Sums sums{context, inputs, parts};
  Products products{parts, context.devices.size()};
  TaskLoop{context, fetcher, sums, products}.run();
  sums.finish();
}

}  // namespace tilerail
