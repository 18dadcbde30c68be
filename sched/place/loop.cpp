#include "sched/place/loop.hpp"

#include <algorithm>
#include <array>

namespace tilerail {

void TaskLoop::run() { chooser_.wakes() == Wake::in_turn ? run_in_turn() : run_first_free(); }

void TaskLoop::run_in_turn() {
  for (bool any = true; any;) {
    any = false;
    for (std::size_t d = 0; d < context_.devices.size(); ++d) any = serve(d) || any;
  }
}

/// A device that got nothing asks again after the next task of another one.
void TaskLoop::run_first_free() {
  std::vector<char> refused(context_.devices.size(), 0);
  while (true) {
    std::optional<std::size_t> first;
    for (std::size_t d = 0; d < refused.size(); ++d)
      if (!refused[d] && (!first || context_.clock.device_free(d) < context_.clock.device_free(*first))) first = d;
    if (!first) return;
    if (serve(*first))
      std::fill(refused.begin(), refused.end(), 0);
    else
      refused[*first] = 1;
  }
}

bool TaskLoop::serve(std::size_t device) {
  const std::optional<Task> task = chooser_.next(device);
  if (!task) return false;
  add(device, *task);
  chooser_.placed(device, *task);
  return true;
}

void TaskLoop::add(std::size_t device, const Task& task) {
  Op op;
  op.kind = task.kind;
  op.trans_a = task.trans_a, op.trans_b = task.trans_b;
  op.alpha = task.alpha;
  Deps deps;
  Seconds ready{0};
  const std::array<View*, 2> operands{&op.a, &op.b};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (task.reads[i] == no_tile) continue;
    const Fetcher::Input in = fetcher_.fetch(task.reads[i], device);
    directory_.pin(task.reads[i], device, true);
    *operands[i] = in.view;
    deps.after(in.arrival);
    ready = std::max(ready, in.eta);
  }
  const Outputs::Place out = outputs_.open(task, device, deps);
  op.queue = out.queue, op.y = out.view, op.beta = out.beta;
  const OpId kernel = context_.emit(device, op, deps);
  for (const TileId tile : task.reads)
    if (tile != no_tile) directory_.pin(tile, device, false);
  for (const TileId tile : task.reads)
    if (tile != no_tile) directory_.used(tile, device, kernel);
  const Seconds time = context_.costs.of(context_.builder.plan(), op, context_.devices[device]).time;
  const Seconds end = context_.clock.run_kernel(device, std::max(ready, out.eta), time);
  outputs_.written(task, device, kernel, end);
}

}  // namespace tilerail
