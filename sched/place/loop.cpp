#include "sched/place/loop.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

void TaskLoop::run() {
  chooser_.dispatch_order() == DispatchOrder::in_turn ? run_in_turn() : run_first_free();
  outputs_.end();
}

void TaskLoop::run_in_turn() {
  for (bool any = true; any;) {
    any = false;
    for (const auto d : indices(context_.devices)) any = serve(d) || any;
  }
}

/// A device without a task asks again after the next task of another device.
void TaskLoop::run_first_free() {
  std::vector<char> refused(context_.devices.size(), 0);
  while (true) {
    std::optional<size_t> first;
    for (const auto d : indices(refused))
      if (!refused[d] &&
          (!first || context_.clock.device_free(d) < context_.clock.device_free(*first)))
        first = d;
    if (!first) return;
    if (serve(*first))
      std::ranges::fill(refused, 0);
    else
      refused[*first] = 1;
  }
}

bool TaskLoop::serve(size_t device) {
  const std::optional<Task> task = chooser_.next(device);
  if (!task) return false;
  const PlannedTask planned = add(device, *task);
  outputs_.written(*task, device, planned.kernel, planned.end);
  chooser_.placed(device, *task);
  return true;
}

TaskLoop::PlannedTask TaskLoop::add(size_t device, const Task& task) {
  Op op = task.op;
  Operands operands(info(op.kind).operands.size());
  Deps deps;
  Seconds ready{0};
  for (const auto i : indices(task.reads)) {
    if (task.reads[i] == no_tile) continue;
    const Fetcher::Input in = fetcher_.fetch(task.reads[i], device);
    directory_.pin(task.reads[i], device, true);
    View& operand = operands[i] = in.view;
    if (const auto [first, count] = task.rows_read[i]; count > 0)
      operand.row += first, operand.rows = count;
    deps.after(in.arrival);
    ready = std::max(ready, in.eta);
  }
  const Outputs::Place out = outputs_.open(task, device, deps);
  op.queue = out.queue, op.beta = out.beta;
  std::ranges::copy(out.others, operands.end() - 1 - ptrdiff_t(out.others.size()));
  operands.back() = out.view;
  PlannedTask planned{task, {}, {}, std::max(ready, out.eta), {}};
  planned.awaited.assign(deps.ops().begin(), deps.ops().end());
  const OpId kernel = planned.kernel = context_.emit(device, op, operands, deps);
  for (const TileId tile : task.reads) {
    if (tile == no_tile) continue;
    directory_.pin(tile, device, false);
    directory_.used(tile, device, kernel);
  }
  planned.end = context_.clock.run_kernel(device, planned.ready,
                                          context_.time(op, operands, device));
  return planned;
}

void TaskLoop::note(size_t device, Seconds at, size_t planned, bool is_end) {
  events_.push({at, events_so_far_++, device, planned, is_end});
}

/// Submits as many tasks as the limits of the device allow.
void TaskLoop::act(size_t device, Seconds now, const TasksAtOnce& limits) {
  Agent& agent = agents_[device];
  const Plan& plan = context_.builder.plan();
  agent.busy_until = std::max(agent.busy_until, now);
  while (agent.unfinished < limits.unfinished && agent.waiting < limits.waiting) {
    context_.clock.set_now(agent.busy_until);
    const std::optional<Task> task = chooser_.next(device);
    if (!task) return;
    const size_t ops = plan.ops.size();
    PlannedTask planned = add(device, *task);
    chooser_.placed(device, *task);
    for (size_t op = ops; op < plan.ops.size(); ++op)
      agent.busy_until += runtime_cost(plan, plan.ops[op], context_.topology);
    size_t place = planned_.size();
    if (free_places_.empty())
      planned_.emplace_back();
    else
      place = free_places_.back(), free_places_.pop_back();
    ++agent.unfinished;
    if (planned.ready > now) ++agent.waiting, note(device, planned.ready, place, false);
    note(device, planned.end, place, true);
    planned_[place] = std::move(planned);
  }
}

void TaskLoop::run_in_time(const TasksAtOnce& limits) {
  agents_.assign(context_.devices.size(), {});
  for (const auto d : indices(agents_))
    act(d, context_.builder.plan().runtime.call, limits);
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    Agent& agent = agents_[event.device];
    const PlannedTask& planned = planned_[event.planned];
    std::vector<OpId>& awaited = context_.awaited_by[event.device];
    context_.clock.set_now(event.at);
    if (event.is_end) {
      awaited = {planned.kernel};
      outputs_.written(planned.task, event.device, planned.kernel, planned.end);
      chooser_.ended(event.device, planned.task);
      --agent.unfinished;
      free_places_.push_back(event.planned);
    } else {
      awaited.assign(planned.awaited.begin(), planned.awaited.end());
      --agent.waiting;
    }
    act(event.device, event.at, limits);
    awaited.clear();
  }
  outputs_.end();
}

}  // namespace tilerail
