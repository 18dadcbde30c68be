#include "backends/fluid/plan_run.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

#include "model/base/indices.hpp"
#include "plan/stream_waits.hpp"

namespace tilerail {
namespace {

template <class T>
void push(std::vector<T>& heap, T value) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end(), std::greater<>{});
}

template <class T>
T pop(std::vector<T>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
  const T value = heap.back();
  heap.pop_back();
  return value;
}

double between_gpus(const PreparedPlan& prepared) {
  const GraphCost* const graph = graph_cost(prepared.plan, prepared.topology);
  return graph ? graph->between_gpus.value : 0;
}

}  // namespace

PlanRun::PlanRun(const PreparedPlan& prepared, const std::vector<double>& load_factors, std::vector<OpTime>& ops,
                 const MakeMachine& machine)
    : plan_{prepared.plan},
      graph_{prepared.graph},
      kernels_{prepared.kernels},
      copies_{prepared.copies},
      times_{ops},
      load_factors_{load_factors},
      limits_{prepared.plan, prepared.topology},
      room_{prepared.topology.memories().size()},
      without_room_(prepared.topology.memories().size()),
      between_engines_{prepared.topology.description().issue.hand_on.value},
      between_gpus_{between_gpus(prepared)},
      resolution_{prepared.resolution},
      waits_for_{prepared.graph.waits_for()},
      running_(prepared.plan.queues.size()) {
  for (const Queue& queue : plan_.queues) owners_.push_back(stream_owner(queue, prepared.topology));
  times_ = prepared.issued;
  machine_ = machine(prepared.topology, {copies_.flow_routes(), plan_.queues.size(), resolution_}, *this);
}

void PlanRun::run() {
  for (const auto i : indices(plan_.ops))
    if (waits_for_[i] == 0) make_ready(OpId{i});
  instant();
  machine_->run();
  if (ended_ != plan_.ops.size()) throw std::logic_error{"simulation stopped before the end of the plan"};
}

void PlanRun::instant() {
  take_due_events();
  while (!ready_.empty()) start(pop(ready_));
  if (!events_.empty()) machine_->wake_at(events_.front().date);
}

void PlanRun::take_due_events() {
  while (!events_.empty() && !is_future(events_.front().date)) {
    const TimedEvent due = pop(events_);
    if (due.event == Event::issued) push(ready_, due.op);
    if (due.event == Event::latency_paid) start_flow(due.op);
  }
}

void PlanRun::add_event(double date, OpId op, Event event) { push(events_, {date, op, event}); }

void PlanRun::make_ready(OpId op) {
  const double issued = times_[op.index()].start;
  if (is_future(issued))
    add_event(issued, op, Event::issued);
  else
    push(ready_, op);
}

void PlanRun::start(OpId id) {
  const Op& op = plan_.op(id);
  if (op.kind != OpKind::join && (waits_for_room(id) || !limits_.take_or_wait(id, op.queue))) {
    limits_.pass_on(op.queue, retry_);
    return retry_waiting();
  }
  times_[id.index()].start = machine_->now();
  running_[op.queue.index()] = id;
  switch (op.kind) {
    case OpKind::join:
      return finish(id);
    case OpKind::copy:
      return kernels_.computes(id) ? start_kernel(id) : start_copy(id);
    default:
      return start_kernel(id);
  }
}

/// A worker takes no kernel that it could not run at once: where there is no room, the kernel waits holding none.
bool PlanRun::waits_for_room(OpId id) {
  const Queue& queue = plan_.queue(plan_.op(id).queue);
  if (!kernels_.computes(id) || !limits_.shares_workers(plan_.op(id).queue)) return false;
  if (kernels_.of(id).time <= Seconds{0} || room_.has_room(queue.dst)) return false;
  without_room_[queue.dst.index()].push_back(id);
  return true;
}

void PlanRun::start_copy(OpId id) {
  const CopyRoute* route = copies_.of(id);
  if (!route) return finish(id);
  const double first_byte = machine_->now() + route->latency.value;
  if (is_future(first_byte)) return add_event(first_byte, id, Event::latency_paid);
  start_flow(id);
}

void PlanRun::start_flow(OpId id) {
  const Op& op = plan_.op(id);
  const CopyRoute* route = copies_.of(id);
  const auto bytes = uint64_t(copy_bytes(plan_, op).value);
  if (bytes == 0) return finish(id);
  machine_->start_flow(static_cast<SharedMachine::Slot>(op.queue.value), route->flow, bytes);
}

void PlanRun::start_kernel(OpId id) {
  const KernelCost& cost = kernels_.of(id);
  if (cost.time <= Seconds{0}) return finish(id);
  if (room_.take_or_wait(id, plan_.queue(plan_.op(id).queue).dst, cost.share)) run_kernel(id);
}

void PlanRun::run_kernel(OpId id) {
  const Op& op = plan_.op(id);
  const KernelCost& cost = kernels_.of(id);
  const MemoryId gpu = plan_.queue(op.queue).dst;
  times_[id.index()].start = machine_->now();
  machine_->start_kernel(static_cast<SharedMachine::Slot>(op.queue.value), gpu,
                         cost.under_load(load_factors_[gpu.index()]).value, cost.share);
}

void PlanRun::activity_ended(SharedMachine::Slot slot) {
  const OpId id = running_[slot];
  const Queue& queue = plan_.queue(plan_.op(id).queue);
  if (kernels_.computes(id)) {
    std::vector<OpId> started;
    room_.release(queue.dst, kernels_.of(id).share, started);
    for (const OpId next : started) run_kernel(next);
    for (const OpId waited : without_room_[queue.dst.index()]) push(ready_, waited);
    without_room_[queue.dst.index()].clear();
  }
  finish(id);
}

void PlanRun::finish(OpId id) {
  const Op& op = plan_.op(id);
  times_[id.index()].end = machine_->now();
  ++ended_;
  if (op.kind != OpKind::join) limits_.give_back(op.queue);
  const Queue& queue = plan_.queue(op.queue);
  const bool stays = op.kind == OpKind::copy && queue.src != queue.dst && !limits_.shares_workers(op.queue);
  std::optional<OpId> same_queue;
  for (OpId next : graph_.successors(id)) {
    tell(id, next);
    if (--waits_for_[next.index()] > 0) continue;
    const bool follows = stays && plan_.op(next).queue == op.queue;
    if (follows && !is_future(times_[next.index()].start))
      same_queue = next;
    else
      make_ready(next);
  }
  through_.erase(id.index());
  if (same_queue) start(*same_queue);  // a copy engine stays with a queue that has more for it
  if (op.kind != OpKind::join) {
    limits_.pass_on(op.queue, retry_);
    retry_waiting();
  }
}

/// A join is no operation of any engine: what waits for it hears of what the join waited for.
void PlanRun::tell(OpId from, OpId to) {
  if (between_engines_ + between_gpus_ == 0) return;
  const Op& next = plan_.op(to);
  const auto hear = [&](size_t queue, double at) {
    if (next.kind == OpKind::join)
      through_[to.index()][queue] = std::max(through_[to.index()][queue], at);
    else if (const double later = hand_on(queue, next); later > 0)  // `start` is the earliest that it can start
      times_[to.index()].start = std::max(times_[to.index()].start, at + later);
  };
  if (plan_.op(from).kind != OpKind::join) return hear(plan_.op(from).queue.index(), machine_->now());
  if (const auto heard = through_.find(from.index()); heard != through_.end())
    for (const auto& [queue, at] : heard->second) hear(queue, at);
}

/// Seconds that an engine takes to tell another one that an operation of this queue has ended: copies have engines of
/// their own. Kernels of several streams of a GPU have one front end.
double PlanRun::hand_on(size_t from, const Op& to) const {
  if (from == to.queue.index()) return 0;
  if (between_gpus_ > 0 && owners_[from] != owners_[to.queue.index()]) return std::max(between_engines_, between_gpus_);
  const auto copies = [&](size_t number) {
    const Queue& queue = plan_.queues[number];
    return queue.kind == Queue::Kind::copy && queue.src != queue.dst;
  };
  return copies(from) || copies(to.queue.index()) ? between_engines_ : 0;
}

void PlanRun::retry_waiting() {
  for (OpId op : retry_) push(ready_, op);
  retry_.clear();
}

}  // namespace tilerail
