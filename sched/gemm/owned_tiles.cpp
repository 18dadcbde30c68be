#include "sched/gemm/owned_tiles.hpp"

#include <utility>

#include "sched/tasks/copier.hpp"

namespace tilerail {

OwnedTiles::OwnedTiles(PlanContext& context, TileDirectory& inputs, Options options)
    : context_{context},
      inputs_{inputs},
      options_{std::move(options)},
      devices_(context.devices.size()) {}

Arena::Slot OwnedTiles::take(size_t device, const Buffer& block, int64_t least) {
  return context_.arenas[device].take(
      block, [this, device] { inputs_.evict_one(device); }, least);
}

/// Memory for a tile that a device holds for one operation. If memory is ample, a few
/// buffers are used in turn.
Arena::Slot OwnedTiles::take_passing(size_t device, const View& tile) {
  const Buffer block = context_.block(tile);
  if (context_.arenas[device].pooled()) return take(device, block);
  auto& ring = devices_[device].passing;
  if (ring.size() < size_t(passing_buffers(context_.decisions)))
    return take(device, block,
                Arena::bytes(options_.largest.rows, options_.largest.cols,
                             sum_type(block.dtype)));
  Arena::Slot slot = ring.front().first;
  slot.former = ring.front().second;
  ring.pop_front();
  context_.arenas[device].reuse(slot, block);
  return slot;
}

void OwnedTiles::give_back_passing(size_t device, const Arena::Slot& slot, OpId last) {
  LastUses uses;
  uses.add(context_.builder.queue_of(last), last);
  if (context_.arenas[device].pooled())
    context_.arenas[device].give_back(slot, uses);
  else
    devices_[device].passing.emplace_back(slot, uses);
}

/// Copies a tile of C over the devices on its route, in queue number `queue` of each pair
/// of memories. Returns its estimated arrival and sets `id` to the last copy.
Seconds OwnedTiles::copy_c(size_t device, const View& from, const View& to,
                           const Deps& deps, Seconds ready, OpId& id, int queue) {
  const auto leg = [&](const View& src, const View& dst) {
    const auto is_home = [&](const View& view) {
      return !context_.builder.plan().buffer(view.buffer).in_arena;
    };
    return context_.router.leg(context_.memory(src), context_.memory(dst),
                               is_home(src) || is_home(dst));
  };
  const Router::Stops stops = context_.router.stops(leg(from, to));
  Copier::Job job{device,
                  from,
                  to,
                  deps,
                  {},
                  {ready, ready, ready, 0},
                  pieces_over(context_, to, stops.size()),
                  queue};
  std::optional<std::pair<size_t, Arena::Slot>> held;
  const auto go_to = [&](const View& next) {
    job.to = next;
    const Copier::Result copied = context_.copier->copy(leg(job.from, next), job);
    job.before = copied.pieces, job.available = copied.arrival;
    if (held) give_back_passing(held->first, held->second, copied.pieces.last);
  };
  for (const size_t stop : stops) {
    const Arena::Slot slot = take_passing(stop, to);
    job.leave.after(slot.former);
    go_to({slot.buffer, 0, 0, to.rows, to.cols});
    job.from = job.to, job.leave = {}, held = {stop, slot};
  }
  go_to(to);
  id = job.before->last;
  return job.available.last;
}

std::optional<Seconds> OwnedTiles::arrival(TileId tile, size_t device) const {
  const View home = context_.builder.in_block(options_.home_of(tile));
  const bool part = is_part(tile), here = in_place(device, home, part);
  if (here || first_beta(here, part) == Scalar::zero) return std::nullopt;
  Leg leg = context_.router.leg(context_.memory(home), context_.devices[device], true);
  const Router::Stops stops = context_.router.stops(leg);
  const int pieces = pieces_over(context_, home, stops.size());
  Clock::Arrival available;
  for (const size_t stop : stops) {
    leg = context_.router.leg(leg.src, context_.devices[stop],
                              leg.src == context_.memory(home));
    available = context_.copier->arrival(leg, home, pieces, available);
    leg = context_.router.leg(leg.dst, context_.devices[device], false);
  }
  return context_.copier->arrival(leg, home, pieces, available).last;
}

OwnedTiles::ActiveTile OwnedTiles::begin(const View& region, size_t device,
                                         bool is_part) {
  ActiveTile tile;
  tile.home = tile.work = context_.builder.in_block(region);
  tile.is_part = is_part;
  tile.in_place = in_place(device, tile.home, is_part);
  tile.beta = first_beta(tile.in_place, is_part);
  if (options_.rounded || !tile.in_place) take_work(tile, device, options_.rounded);
  return tile;
}

void OwnedTiles::take_work(ActiveTile& tile, size_t device, bool is_sum) {
  const View& home = tile.home;
  Buffer block = context_.block(home);
  if (is_sum) block.dtype = sum_type(block.dtype);
  tile.slot = take(device, block);
  tile.work = {tile.slot.buffer, 0, 0, home.rows, home.cols};
  if (tile.beta == Scalar::zero) return;
  Deps deps;
  deps.after(tile.slot.former);
  OpId fetch;
  tile.eta = copy_c(device, home, tile.work, deps, Seconds{0}, fetch);
  tile.loaded = fetch;
}

void OwnedTiles::axpby(CompleteTile& total, Scalar alpha, const View& x, Scalar beta,
                       Deps deps, Seconds ready) {
  const Op op{
      .kind = OpKind::axpby, .alpha = alpha, .beta = beta, .queue = total.tile.queue};
  deps.after(total.last);
  const Operands operands{x, total.tile.work};
  total.last = context_.emit(total.device, op, operands, deps);
  total.ready = std::max(total.ready, ready) + context_.time(op, operands, total.device);
}

/// The sum becomes the tile that goes home, or the tile at home.
void OwnedTiles::round(CompleteTile& total) {
  const CompleteTile sum = total;
  ActiveTile& tile = total.tile;
  tile.beta = options_.beta;
  Deps deps;
  if (tile.in_place) {
    tile.work = tile.home;
  } else {
    take_work(tile, total.device, false);
    deps.after(tile.loaded).after(tile.slot.former);
  }
  axpby(total, Scalar::one, sum.tile.work, tile.beta, deps, tile.eta);
  give_back(sum, total.last);
}

/// C' = factor X + C'; X is fetched after `arrived`. Returns the fetch.
OpId OwnedTiles::add(CompleteTile& total, const View& from, Scalar factor, Deps arrived,
                     Seconds ready) {
  const Arena::Slot slot = take_passing(total.device, from);
  arrived.after(slot.former);
  const View there{slot.buffer, 0, 0, from.rows, from.cols};
  OpId fetch;
  const Seconds arrival = copy_c(total.device, from, there, arrived, ready, fetch);
  axpby(total, factor, there, Scalar::one, Deps{}.after(fetch), arrival);
  give_back_passing(total.device, slot, total.last);
  return fetch;
}

void OwnedTiles::give_back(const CompleteTile& tile, OpId copied) {
  LastUses uses;
  uses.add(context_.builder.queue_of(copied), copied);
  context_.arenas[tile.device].give_back(tile.tile.slot, uses);
}

/// Parts are added in the order of completion.
void OwnedTiles::add_parts(std::vector<CompleteTile>& all) {
  std::ranges::stable_sort(all, {}, &CompleteTile::ready);
  CompleteTile& total = *std::ranges::find(
      all, false, [](const CompleteTile& one) { return one.tile.is_part; });
  for (const CompleteTile& part : all) {
    if (!part.tile.is_part) continue;
    Deps complete;
    complete.after(part.last);
    give_back(part, add(total, part.tile.work, Scalar::one, complete, part.ready));
  }
  finish(total);
}

void OwnedTiles::finish(CompleteTile& total) {
  const ActiveTile& tile = total.tile;
  if (options_.rounded) round(total);
  if (tile.in_place) return;
  if (options_.lazy && options_.beta != Scalar::zero && !options_.rounded)
    add(total, tile.home, options_.beta, {}, Seconds{0});
  if (context_.decisions.choices.write_backs == WriteBacks::with_next &&
      !context_.arenas[total.device].pooled())
    return devices_[total.device].kept.push_back(total);
  OpId write_back;
  send_home(total, {}, write_back);
}

Seconds OwnedTiles::send_home(CompleteTile& total, Deps deps, OpId& copy) {
  const int queue =
      context_.decisions.choices.write_backs == WriteBacks::in_order ? 0 : 1;
  const Seconds there = copy_c(total.device, total.tile.work, total.tile.home,
                               deps.after(total.last), total.ready, copy, queue);
  give_back(total, copy);
  return there;
}

void OwnedTiles::end() {
  for (Device& device : devices_)
    for (; !device.kept.empty(); device.kept.pop_front()) {
      OpId copy;
      send_home(device.kept.front(), {}, copy);
    }
}

Outputs::Place OwnedTiles::open(const Task& task, size_t device, Deps& deps) {
  Device& d = devices_[device];
  if (!task.first) {
    const ActiveTile& tile = d.open.at(task.writes);
    return {tile.work, tile.queue, task.op.beta, Seconds{0}};
  }
  const int stream = d.started++ % context_.decisions.choices.compute_streams;
  const QueueId queue = context_.builder.compute_queue(context_.devices[device], stream);
  ActiveTile& tile = d.open[task.writes] =
      begin(options_.home_of(task.writes), device, is_part(task.writes));
  tile.queue = queue;
  deps.after(tile.loaded);
  deps.after(tile.slot.former);
  if (!d.kept.empty()) {
    OpId copy;
    tile.eta =
        std::max(tile.eta, send_home(d.kept.front(), Deps{}.after(tile.loaded), copy));
    deps.after(copy);
    d.kept.pop_front();
  }
  return {tile.work, queue, tile.beta, tile.eta};
}

void OwnedTiles::written(const Task& task, size_t device, OpId kernel,
                         Seconds kernels_end) {
  if (!task.last) return;
  const auto open = devices_[device].open.find(task.writes);
  CompleteTile tile{open->second, device, kernel, kernels_end};
  devices_[device].open.erase(open);
  if (options_.parts == 1) return finish(tile);
  const TileId total = options_.total_of(task.writes);
  std::vector<CompleteTile>& all = complete_[total];
  all.push_back(std::move(tile));
  if (all.size() < options_.parts) return;
  add_parts(all);
  complete_.erase(total);
}

}  // namespace tilerail
