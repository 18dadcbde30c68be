#include "sched/gemm/owned_tiles.hpp"

#include <utility>

namespace tilerail {

OwnedTiles::OwnedTiles(PlanContext& context, TileDirectory& inputs, Options options)
    : context_{context}, inputs_{inputs}, options_{std::move(options)}, devices_(context.devices.size()) {}

Arena::Slot OwnedTiles::take(std::size_t device, Shape shape, DType dtype) {
  return context_.arenas[device].take(shape.rows, shape.cols, dtype, [this, device] { inputs_.evict_one(device); });
}

/// Memory for a tile that a device holds for one operation. Where memory is ample, a few buffers are used in turn.
Arena::Slot OwnedTiles::take_passing(std::size_t device, const View& tile) {
  const DType dtype = context_.dtype(tile);
  if (context_.arenas[device].pooled()) return take(device, {tile.rows, tile.cols}, dtype);
  auto& ring = devices_[device].passing;
  if (ring.size() < static_cast<std::size_t>(passing_buffers(context_.decisions))) {
    Arena::Slot slot = take(device, options_.largest, dtype);
    context_.arenas[device].reshape(slot, tile.rows, tile.cols, dtype);
    return slot;
  }
  Arena::Slot slot = ring.front().first;
  slot.former = ring.front().second;
  ring.pop_front();
  context_.arenas[device].reshape(slot, tile.rows, tile.cols, dtype);
  return slot;
}

void OwnedTiles::give_back_passing(std::size_t device, const Arena::Slot& slot, OpId last) {
  LastUses uses;
  uses.add(context_.builder.queue_of(last), last);
  if (context_.arenas[device].pooled())
    context_.arenas[device].give_back(slot, uses);
  else
    devices_[device].passing.emplace_back(slot, uses);
}

/// Copies a whole tile of C over the devices on its route, in queue number `queue` of each pair of memories. Returns
/// its estimated arrival and sets `id` to the last copy.
Seconds OwnedTiles::copy_c(std::size_t device, View from, const View& to, Deps deps, Seconds ready, OpId& id,
                           int queue) {
  const auto memory = [&](const View& view) { return context_.builder.plan().buffer(view.buffer).memory; };
  std::optional<std::pair<std::size_t, Arena::Slot>> held;
  const auto hop_to = [&](const View& next) {
    ready = copy_once(device, from, next, deps, ready, id, queue);
    if (held) give_back_passing(held->first, held->second, id);
  };
  for (const std::size_t stop : context_.hops(memory(from), memory(to))) {
    const Arena::Slot slot = take_passing(stop, to);
    const View there{slot.buffer, 0, 0, to.rows, to.cols};
    deps.after(slot.former);
    hop_to(there);
    from = there, held = {stop, slot}, deps = Deps{}.after(id);
  }
  hop_to(to);
  return ready;
}

/// Makes one copy of that way and charges the clock with it.
Seconds OwnedTiles::copy_once(std::size_t device, const View& from, const View& to, Deps& deps, Seconds ready, OpId& id,
                              int queue) {
  const MemoryId src = context_.builder.plan().buffer(from.buffer).memory;
  const MemoryId dst = context_.builder.plan().buffer(to.buffer).memory;
  const Bytes bytes = context_.bytes(from);
  const Clock::Arrival available{ready, ready, ready, 0};
  const Clock::Hop hop = context_.clock.hop(src, dst);
  const auto arrival = context_.clock.estimate(hop, bytes, 1, available);
  context_.clock.commit(hop, bytes, arrival);
  Op op;
  op.queue = context_.builder.copy_queue(src, dst, queue);
  op.a = from, op.y = to;
  id = context_.emit(device, op, deps);
  return arrival.last;
}

OwnedTiles::Open OwnedTiles::begin(const View& home, std::size_t device) {
  Open tile;
  tile.home = tile.work = home;
  tile.in_place = context_.problem.place_c == context_.devices[device];
  tile.beta = tile.in_place || !options_.lazy ? options_.beta : Scalar::zero;
  if (tile.in_place) return tile;
  tile.slot = take(device, {home.rows, home.cols}, context_.dtype(home));
  tile.work = {tile.slot.buffer, 0, 0, home.rows, home.cols};
  if (!options_.lazy && options_.beta != Scalar::zero) {
    Deps deps;
    deps.after(tile.slot.former);
    OpId fetch;
    tile.eta = copy_c(device, home, tile.work, deps, Seconds{0}, fetch);
    tile.loaded = fetch;
  }
  return tile;
}

/// C' = beta C_in + C'.
OpId OwnedTiles::add_c_in(const Open& tile, std::size_t device, OpId last_kernel, Seconds& ready) {
  const Arena::Slot c_in = take_passing(device, tile.home);
  Deps fetch_deps, add_deps;
  fetch_deps.after(c_in.former);
  const View c_in_view{c_in.buffer, 0, 0, tile.home.rows, tile.home.cols};
  OpId fetch;
  const Seconds arrival = copy_c(device, tile.home, c_in_view, fetch_deps, Seconds{0}, fetch);
  Op add;
  add.kind = OpKind::axpby;
  add.queue = tile.queue;
  add.a = c_in_view, add.y = tile.work;
  add.alpha = options_.beta, add.beta = Scalar::one;
  add_deps.after(fetch).after(last_kernel);
  const OpId added = context_.emit(device, add, add_deps);
  ready = std::max(ready, arrival) + context_.costs.of(context_.builder.plan(), add, context_.devices[device]).time;
  give_back_passing(device, c_in, added);
  return added;
}

void OwnedTiles::end(const Open& tile, std::size_t device, OpId last_kernel, Seconds kernels_end) {
  if (tile.in_place) return;
  Seconds ready = kernels_end;
  const bool adds = options_.lazy && options_.beta != Scalar::zero;
  const OpId last = adds ? add_c_in(tile, device, last_kernel, ready) : last_kernel;
  Deps deps;
  deps.after(last);
  OpId write_back;
  const int queue = context_.decisions.write_backs == WriteBacks::own_queues ? 1 : 0;
  copy_c(device, tile.work, tile.home, deps, ready, write_back, queue);
  LastUses uses;
  uses.add(context_.builder.queue_of(write_back), write_back);
  context_.arenas[device].give_back(tile.slot, uses);
}

Outputs::Place OwnedTiles::open(const Task& task, std::size_t device, Deps& deps) {
  Device& d = devices_[device];
  if (!task.first) {
    const Open& tile = d.open.at(task.writes);
    return {tile.work, tile.queue, task.beta, Seconds{0}};
  }
  const int stream = d.started++ % context_.decisions.compute_streams;
  const QueueId queue = context_.builder.compute_queue(context_.devices[device], stream);
  Open& tile = d.open[task.writes] = begin(options_.home_of(task.writes), device);
  tile.queue = queue;
  deps.after(tile.loaded);
  if (!tile.in_place) deps.after(tile.slot.former);
  return {tile.work, queue, tile.beta, tile.eta};
}

void OwnedTiles::written(const Task& task, std::size_t device, OpId kernel, Seconds kernels_end) {
  if (!task.last) return;
  const auto tile = devices_[device].open.find(task.writes);
  end(tile->second, device, kernel, kernels_end);
  devices_[device].open.erase(tile);
}

}  // namespace tilerail
