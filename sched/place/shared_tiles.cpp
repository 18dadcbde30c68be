#include "sched/place/shared_tiles.hpp"

#include <utility>

namespace tilerail {

Outputs::Place SharedTiles::open(const Task& task, size_t device, Deps& deps) {
  const Fetcher::Input in = fetcher_.fetch(task.writes, device);
  directory_.pin(task.writes, device, true);
  deps.after(in.arrival);
  directory_.wait_to_write(task.writes, device, deps);
  const int stream = started_[device]++ % context_.decisions.choices.compute_streams;
  return {in.view, context_.builder.compute_queue(context_.devices[device], stream),
          task.op.beta, in.eta};
}

void SharedTiles::written(const Task& task, size_t device, OpId kernel, Seconds end) {
  const TileId tile = task.writes;
  directory_.written(tile, device, kernel, end);
  directory_.pin(tile, device, false);
  if (!task.last || directory_.home_is_valid(tile)) return;
  Copier::Job job{device, directory_.view_on(tile, device), directory_.tile(tile).home};
  job.available = {end, end, end, 0};
  job.leave.after(kernel);
  directory_.wait_to_write_home(tile, job.leave);
  const Leg leg = context_.router.leg(context_.devices[device],
                                      directory_.tile(tile).home_memory, true);
  const Copier::Result copied = context_.copier->copy(leg, std::move(job));
  directory_.used(tile, device, copied.left);
  directory_.came_home(tile, copied.pieces.last, copied.arrival.last);
}

}  // namespace tilerail
