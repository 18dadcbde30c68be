#include "sched/place/shared_tiles.hpp"

namespace tilerail {

Outputs::Place SharedTiles::open(const Task& task, std::size_t device, Deps& deps) {
  const Fetcher::Input in = fetcher_.fetch(task.writes, device);
  directory_.pin(task.writes, device, true);
  deps.after(in.arrival);
  directory_.wait_to_write(task.writes, device, deps);
  const int stream = started_[device]++ % context_.decisions.compute_streams;
  return {in.view, context_.builder.compute_queue(context_.devices[device], stream), task.beta, in.eta};
}

void SharedTiles::written(const Task& task, std::size_t device, OpId kernel, Seconds end) {
  const TileId tile = task.writes;
  directory_.written(tile, device, kernel, end);
  directory_.pin(tile, device, false);
  if (!task.last || directory_.home_is_valid(tile)) return;
  const MemoryId home = directory_.tile(tile).home_memory, src = context_.devices[device];
  Deps deps;
  deps.after(kernel);
  directory_.wait_to_write_home(tile, deps);
  Op op;
  op.queue = context_.builder.copy_queue(src, home);
  op.a = directory_.view_on(tile, device), op.y = directory_.tile(tile).home;
  const Clock::Hop hop = context_.clock.hop(src, home);
  const auto arrival = context_.clock.estimate(hop, directory_.bytes(tile), 1, {end, end, end, 0});
  context_.clock.commit(hop, directory_.bytes(tile), arrival);
  const OpId copied = context_.emit(device, op, deps);
  directory_.used(tile, device, copied);
  directory_.came_home(tile, copied, arrival.last);
}

}  // namespace tilerail
