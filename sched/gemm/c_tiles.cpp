#include "sched/gemm/c_tiles.hpp"

namespace tilerail {

CTileLife::CTileLife(PlanContext& context, bool lazy, double beta, Shape largest, TileCache& cache)
    : context_{context}, lazy_{lazy}, beta_{beta}, largest_{largest}, cache_{cache}, passing_(context.devices.size()) {}

Arena::Slot CTileLife::take(std::size_t device, std::int64_t rows, std::int64_t cols) {
  return context_.arenas[device].take(rows, cols, element_size(context_.problem.dtype),
                                      [this, device] { cache_.evict_one(device); });
}

/// Where memory is ample, a few buffers are used in turn.
Arena::Slot CTileLife::take_passing(std::size_t device, std::int64_t rows, std::int64_t cols) {
  if (context_.arenas[device].pooled()) return take(device, rows, cols);
  auto& ring = passing_[device];
  if (ring.size() < static_cast<std::size_t>(passing_buffers(context_.policy))) {
    Arena::Slot slot = take(device, largest_.rows, largest_.cols);
    context_.arenas[device].reshape(slot, rows, cols, element_size(context_.problem.dtype));
    return slot;
  }
  Arena::Slot slot = ring.front().first;
  slot.former = ring.front().second;
  ring.pop_front();
  context_.arenas[device].reshape(slot, rows, cols, element_size(context_.problem.dtype));
  return slot;
}

void CTileLife::give_back_passing(std::size_t device, const Arena::Slot& slot, OpId last) {
  LastUses uses;
  uses.add(context_.builder.queue_of(last), last);
  if (context_.arenas[device].pooled())
    context_.arenas[device].give_back(slot, uses);
  else
    passing_[device].emplace_back(slot, uses);
}

/// A whole tile of C in so many-th queues of its pairs, over the devices on its route. Returns its estimated arrival
/// and sets `id` to the last copy.
double CTileLife::copy_c(std::size_t device, View from, const View& to, Deps deps, double ready, OpId& id, int queue) {
  const auto memory = [&](const View& view) { return context_.builder.plan().buffer(view.buffer).memory; };
  std::optional<std::pair<std::size_t, Arena::Slot>> held;
  const auto hop_to = [&](const View& next) {
    ready = copy_once(device, from, next, deps, ready, id, queue);
    if (held) give_back_passing(held->first, held->second, id);
  };
  for (const std::size_t stop : context_.hops(memory(from), memory(to))) {
    const Arena::Slot slot = take_passing(stop, to.rows, to.cols);
    const View there{slot.buffer, 0, 0, to.rows, to.cols};
    deps.after(slot.former);
    hop_to(there);
    from = there, held = {stop, slot}, deps = Deps{}.after(id);
  }
  hop_to(to);
  return ready;
}

/// Charged to the link clock.
double CTileLife::copy_once(std::size_t device, const View& from, const View& to, Deps& deps, double ready, OpId& id,
                            int queue) {
  const MemoryId src = context_.builder.plan().buffer(from.buffer).memory;
  const MemoryId dst = context_.builder.plan().buffer(to.buffer).memory;
  const double bytes = context_.bytes(from.rows, from.cols);
  const LinkClock::Arrival available{ready, ready, ready, 0};
  const auto arrival = context_.clock.estimate(src, dst, bytes, 1, available);
  context_.clock.commit(src, dst, bytes, arrival);
  Op op;
  op.queue = context_.builder.copy_queue(src, dst, queue);
  op.a = from, op.y = to;
  id = context_.emit(device, op, deps);
  return arrival.last;
}

CTileLife::Open CTileLife::begin(const View& home, std::size_t device) {
  Open tile;
  tile.home = tile.work = home;
  tile.in_place = context_.problem.place_c == context_.devices[device];
  tile.beta = tile.in_place || !lazy_ ? beta_ : 0.0;
  if (tile.in_place) return tile;
  tile.slot = take(device, home.rows, home.cols);
  tile.work = {tile.slot.buffer, 0, 0, home.rows, home.cols};
  if (!lazy_ && beta_ != 0) {
    Deps deps;
    deps.after(tile.slot.former);
    OpId fetch;
    tile.eta = copy_c(device, home, tile.work, deps, 0, fetch);
    tile.loaded = fetch;
  }
  return tile;
}

double CTileLife::end(const Open& tile, std::size_t device, QueueId compute, OpId last_kernel, double kernels_end) {
  if (tile.in_place) return kernels_end;
  double ready = kernels_end;
  OpId last = last_kernel;
  if (lazy_ && beta_ != 0) {
    const Arena::Slot c_in = take_passing(device, tile.home.rows, tile.home.cols);
    Deps fetch_deps, add_deps;
    fetch_deps.after(c_in.former);
    const View c_in_view{c_in.buffer, 0, 0, tile.home.rows, tile.home.cols};
    OpId fetch;
    const double arrival = copy_c(device, tile.home, c_in_view, fetch_deps, 0, fetch);
    Op add;  // C' = beta C_in + C'
    add.kind = OpKind::axpby;
    add.queue = compute;
    add.a = c_in_view, add.y = tile.work;
    add.alpha = beta_, add.beta = 1;
    add_deps.after(fetch).after(last_kernel);
    last = context_.emit(device, add, add_deps);
    const int reads = 2, writes = 1;
    ready = std::max(ready, arrival) +
            context_.topology.kernels_of(context_.devices[device])
                .axpby_time(tile.home.rows, tile.home.cols, context_.problem.dtype, reads, writes)
                .value;
    give_back_passing(device, c_in, last);
  }
  Deps deps;
  deps.after(last);
  OpId write_back;
  const int queue = context_.policy.write_backs == WriteBacks::own_queues ? 1 : 0;
  const double arrival = copy_c(device, tile.work, tile.home, deps, ready, write_back, queue);
  LastUses uses;
  uses.add(context_.builder.queue_of(write_back), write_back);
  context_.arenas[device].give_back(tile.slot, uses);
  return arrival;
}

}  // namespace tilerail
