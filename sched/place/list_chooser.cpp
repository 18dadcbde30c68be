#include "sched/place/list_chooser.hpp"

#include <algorithm>
#include <limits>

#include "model/base/indices.hpp"

namespace tilerail {

ListChooser::ListChooser(PlanContext& context, const Fetcher& fetcher,
                         const TaskGraph& graph, bool owner_computes)
    : context_{context},
      fetcher_{fetcher},
      graph_{graph},
      owner_computes_{owner_computes},
      ranks_(graph.size()),
      line_(context.devices.size()),
      assigned_(context.devices.size()),
      current_(context.devices.size()) {
  for (size_t t = graph.size(); t-- > 0;) {  // successors have higher ids
    Seconds mean{0}, left{0};
    for (const auto d : indices(context.devices))
      mean += time(TaskId{t}, d) / double(context.devices.size());
    for (const TaskId next : graph.successors(TaskId{t}))
      left = std::max(left, ranks_[next.index()]);
    ranks_[t] = mean + left;
  }
  for (const auto t : indices(graph)) {
    waits_for_.push_back(graph.predecessors(TaskId{t}));
    if (waits_for_.back() == 0) ready_.push({ranks_[t], TaskId{t}});
  }
}

/// Time of a task on a device, from the shapes of its tiles at home.
Seconds ListChooser::time(TaskId id, size_t device) const {
  const Task& task = graph_.task(id);
  const TileDirectory& directory = fetcher_.directory();
  Operands operands(info(task.op.kind).operands.size());
  for (const auto i : indices(task.reads))
    if (task.reads[i] != no_tile) operands[i] = directory.tile(task.reads[i]).home;
  auto operand = operands.rbegin();
  *operand++ = directory.tile(task.writes).home;
  for (size_t i = task.also_writes.size(); i-- > 0;)
    *operand++ = directory.tile(task.also_writes[i].tile).home;
  return context_.time(task.op, operands, device);
}

Seconds ListChooser::arrival(TaskId id, size_t device) const {
  const Task& task = graph_.task(id);
  Seconds last = fetcher_.eta(task.writes, device);
  for (const TileId tile : task.reads)
    if (tile != no_tile) last = std::max(last, fetcher_.eta(tile, device));
  for (const WrittenTile& also : task.also_writes)
    last = std::max(last, fetcher_.eta(also.tile, device));
  return last;
}

size_t ListChooser::earliest(TaskId id) const {
  size_t best = 0;
  Seconds earliest{std::numeric_limits<double>::infinity()};
  for (const auto d : indices(line_)) {
    const Seconds free = context_.clock.device_free(d) + assigned_[d];
    const Seconds finish = std::max(free, arrival(id, d)) + time(id, d);
    if (finish < earliest) best = d, earliest = finish;
  }
  return best;
}

void ListChooser::assign(TaskId id) {
  std::optional<size_t> owner;
  const TileDirectory& directory = fetcher_.directory();
  if (owner_computes_)
    owner = directory.device_at(directory.tile(graph_.task(id).writes).home_memory);
  const size_t device = owner ? *owner : earliest(id);
  line_[device].push_back(id);
  assigned_[device] += time(id, device);
}

std::optional<Task> ListChooser::next(size_t device) {
  while (line_[device].empty() && !ready_.empty()) {
    const TaskId id = ready_.top().id;
    ready_.pop();
    assign(id);
  }
  if (line_[device].empty()) return std::nullopt;
  const TaskId id = current_[device] = line_[device].front();
  line_[device].pop_front();
  assigned_[device] -= time(id, device);
  return graph_.task(id);
}

void ListChooser::placed(size_t device, const Task& /*task*/) {
  for (const TaskId next : graph_.successors(current_[device]))
    if (--waits_for_[next.index()] == 0) ready_.push({ranks_[next.index()], next});
}

}  // namespace tilerail
