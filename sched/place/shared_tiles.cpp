#include "sched/place/shared_tiles.hpp"

#include <algorithm>
#include <utility>

namespace tilerail {

Outputs::Place SharedTiles::open(const Task& task, size_t device, Deps& deps) {
  const int stream = started_[device]++ % context_.decisions.choices.compute_streams;
  Place out{
      {}, context_.builder.compute_queue(context_.devices[device], stream), task.op.beta};
  const auto open_one = [&](TileId tile, bool is_read) {
    const Fetcher::Input in = is_read
                                  ? fetcher_.fetch(tile, device)
                                  : Fetcher::Input{memory_for(tile, device, deps), {}};
    directory_.pin(tile, device, true);
    deps.after(in.arrival);
    directory_.wait_to_write(tile, device, deps);
    out.eta = std::max(out.eta, in.eta);
    return in.view;
  };
  const size_t operands = info(task.op.kind).operands.size();
  size_t i = operands - 1 - task.also_writes.size();
  for (const WrittenTile& also : task.also_writes)
    out.others.push_back(open_one(also.tile, reads(task.op, i++)));
  out.view = open_one(task.writes, true);
  return out;
}

/// Memory for a tile that is written without being read.
View SharedTiles::memory_for(TileId tile, size_t device, Deps& deps) {
  if (directory_.present(tile, device)) return directory_.view_on(tile, device);
  const View& home = directory_.tile(tile).home;
  TileDirectory::Copy& copy = directory_.copy(tile, device);
  if (!copy.has_slot)
    copy.slot =
        context_.arena_for(home, device).take(context_.block(home), [this, device] {
          directory_.evict_one(device);
        });
  deps.after(copy.slot.former);
  return {copy.slot.buffer, 0, 0, home.rows, home.cols};
}

void SharedTiles::written(const Task& task, size_t device, OpId kernel, Seconds end) {
  for (const WrittenTile& also : task.also_writes) written(also, device, kernel, end);
  written({task.writes, task.last}, device, kernel, end);
}

void SharedTiles::written(const WrittenTile& written, size_t device, OpId kernel,
                          Seconds end) {
  const TileId tile = written.tile;
  directory_.written(tile, device, kernel, end);
  directory_.pin(tile, device, false);
  if (!written.last || directory_.home_is_valid(tile)) return;
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
