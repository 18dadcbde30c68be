#include "backends/fluid/simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <unordered_map>

#include "backends/fluid/copy_routes.hpp"
#include "cost/issue_times.hpp"
#include "model/base/indices.hpp"
#include "plan/graph.hpp"
#include "plan/stream_waits.hpp"

namespace tilerail {
namespace {

constexpr int free_passes = 6;         // later passes only raise factors
constexpr double close_enough = 2e-3;  // relative to a factor

template <class T>
using Heap = std::priority_queue<T, std::vector<T>, std::greater<>>;  // the least on top

template <class T>
T pop(Heap<T>& heap) {
  const T value = heap.top();
  heap.pop();
  return value;
}

/// The part of a simulation that does not depend on how much load slows kernels down; all
/// runs of a plan on a machine share it. Keeps references to the plan and the machine.
struct PreparedPlan {
  const Plan& plan;
  const Topology& topology;
  std::vector<OpTime> issued;  // by operation: `start` is the time of issue
  PlanGraph graph{plan};
  PlanKernelCosts kernels{plan, topology};
  CopyRoutes copies{plan, topology, kernels};
  double resolution = time_resolution();  // seconds; closer events are simultaneous

 private:
  /// A picosecond or, for very long plans, a few units in the last place of the latest
  /// possible time: 16 times the time of all operations one after another, because
  /// sharing slows operations down.
  double time_resolution() const {
    double last_issue = 0;
    for (const OpTime& op : issued) last_issue = std::max(last_issue, op.start);
    const double latest =
        16 * (Seconds{last_issue} + kernels.total() + copies.total()).value;
    return std::max(1e-12, 4 * latest * std::numeric_limits<double>::epsilon());
  }
};

/// The number of operations of a role that a device runs simultaneously. A copy from a
/// host counts on its destination GPU, a copy to a host or to another GPU on its source
/// GPU; `total` counts copies and kernels together on the device of the operation. An
/// operation takes a slot of every limit that counts it, or no slot. The same limits
/// count all operations of a queue, and only the first operation of a queue can be ready,
/// so at most one operation per queue waits.
class EngineLimits {
 public:
  EngineLimits(const Plan& plan, const Topology& topology) {
    for (const Memory& memory : topology.memories()) {
      const Engines engines = memory.engines();
      for (const auto& free : {engines.h2d, engines.d2h, engines.peer, engines.total})
        limits_.push_back({free, {}});
    }
    const size_t unlimited = limits_.size();
    limits_.emplace_back();
    for (const Queue& queue : plan.queues) {
      size_t role = unlimited;
      const bool from_host = topology.is_host(queue.src),
                 to_host = topology.is_host(queue.dst);
      if (queue.src != queue.dst) {
        if (from_host && !to_host) role = limit(queue.dst, h2d);
        if (!from_host) role = limit(queue.src, to_host ? d2h : peer);
      }
      of_queue_.push_back({role, limit(to_host ? queue.src : queue.dst, total)});
    }
  }

  /// Takes a slot of every limit of this queue. If one limit is full, takes no slot and
  /// puts the operation in line there; lines are served in ascending order of operations.
  bool take_or_wait(OpId op, QueueId queue) {
    const auto& mine = of_queue_[queue.index()];
    for (const size_t i : mine) {
      if (limits_[i].free != 0) continue;
      limits_[i].waiting.push(op);
      return false;
    }
    for (const size_t i : mine)
      if (auto& free = limits_[i].free) --*free;
    return true;
  }

  /// Releases the slots. `pass_on` returns the operations that can take them.
  void give_back(QueueId queue) {
    for (const size_t i : of_queue_[queue.index()])
      if (auto& free = limits_[i].free) ++*free;
  }

  /// Whether workers of this queue's device run both copies and kernels (`total`). A
  /// worker takes the lowest ready operation, whatever queue it served before; a copy
  /// engine stays with its queue.
  bool shares_workers(QueueId queue) const {
    return limits_[of_queue_[queue.index()][1]].free.has_value();
  }

  /// Adds to `ready` the operations that can retry: the next in line at each limit with a
  /// free slot. Must be called again if an operation that retried then waits at another
  /// limit.
  void pass_on(QueueId queue, Heap<OpId>& ready) {
    for (const size_t i : of_queue_[queue.index()])
      if (limits_[i].free != 0 && !limits_[i].waiting.empty())
        ready.push(pop(limits_[i].waiting));
  }

 private:
  enum Role : uint8_t { h2d, d2h, peer, total };
  static constexpr size_t roles = 4;

  struct Limit {
    std::optional<int> free;
    Heap<OpId> waiting;
  };
  static size_t limit(MemoryId memory, Role role) {
    return memory.index() * roles + role;
  }

  std::vector<Limit> limits_;                    // by memory and role; one is unlimited
  std::vector<std::array<size_t, 2>> of_queue_;  // limits of its role and of `total`
};

/// The kernels that run on each GPU. A GPU dispatches thread blocks in the order in which
/// kernels became ready. So a kernel starts when the kernels before it leave some of the
/// GPU free, and all started kernels share the GPU.
class KernelRoom {
 public:
  explicit KernelRoom(size_t memories) : gpus_(memories) {}

  /// Whether a kernel could start now.
  bool has_room(MemoryId gpu) const {
    const Gpu& g = gpus_[gpu.index()];
    return leaves_room(g.taken) && g.line.empty();
  }

  /// True: the kernel, which fills `share` of the GPU, starts now. False: it waits in
  /// line.
  bool take_or_wait(OpId op, MemoryId gpu, double share) {
    Gpu& g = gpus_[gpu.index()];
    if (!has_room(gpu)) {
      g.line.emplace_back(op, share);
      return false;
    }
    g.taken += share;
    ++g.running;
    return true;
  }

  bool is_idle(MemoryId gpu) const { return gpus_[gpu.index()].running == 0; }

  /// Ends a started kernel. Returns the waiting kernels that start now.
  std::vector<OpId> release(MemoryId gpu, double share) {
    Gpu& g = gpus_[gpu.index()];
    g.taken = --g.running == 0 ? 0 : g.taken - share;
    std::vector<OpId> started;
    while (!g.line.empty() && leaves_room(g.taken)) {
      const auto [op, next_share] = g.line.front();
      g.line.pop_front();
      g.taken += next_share;
      ++g.running;
      started.push_back(op);
    }
    return started;
  }

 private:
  struct Gpu {
    double taken = 0;
    int running = 0;
    std::deque<std::pair<OpId, double>> line;  // kernels and their shares
  };

  std::vector<Gpu> gpus_;  // by MemoryId
};

/// One simulation of one plan. The states of an operation:
///   waiting -> (issued) -> ready -> (engines free) -> started -> [latency -> flow] |
///   kernel -> ended.
class PlanRun final  // NOLINT(cppcoreguidelines-virtual-class-destructor): final
    : private SharedMachine::Listener {
 public:
  /// `load_factors`, by memory, multiply the times of kernels that slow down under load.
  /// All arguments must outlive the run.
  PlanRun(const PreparedPlan& prepared, const std::vector<double>& load_factors,
          const MakeMachine& machine)
      : prepared_{prepared},
        plan_{prepared.plan},
        kernels_{prepared.kernels},
        times_{prepared.issued},
        load_factors_{load_factors},
        limits_{plan_, prepared.topology},
        room_{load_factors.size()},
        without_room_(load_factors.size()),
        between_engines_{prepared.topology.description().issue.hand_on.value},
        waits_for_{prepared.graph.waits_for()},
        running_(plan_.queues.size()) {
    if (const GraphCost* const graph = graph_cost(plan_, prepared.topology))
      between_gpus_ = graph->between_gpus.value;
    for (const Queue& queue : plan_.queues)
      owners_.push_back(stream_owner(queue, prepared.topology));
    const SharedMachine::Options options{prepared.copies.flow_routes(),
                                         plan_.queues.size(), prepared.resolution};
    machine_ = machine(prepared.topology, options, *this);
  }

  /// The times of the operations.
  std::vector<OpTime> run() {
    for (const auto i : indices(plan_.ops))
      if (waits_for_[i] == 0) make_ready(OpId{i});
    instant();
    machine_->run();
    if (ended_ != plan_.ops.size())
      throw std::logic_error{"simulation stopped before the end of the plan"};
    return std::move(times_);
  }

 private:
  enum class Event : uint8_t { issued, latency_paid };
  struct TimedEvent {
    double date;
    OpId op;
    Event event;
    auto operator<=>(const TimedEvent&) const = default;
  };

  void activity_ended(SharedMachine::Slot slot) override {
    const OpId id = running_[slot];
    if (kernels_.computes(id)) {
      const MemoryId gpu = queue_of(id).dst;
      for (const OpId next : room_.release(gpu, kernels_.of(id).share))
        run_kernel(next, Seconds{0});
      for (const OpId waited : without_room_[gpu.index()]) ready_.push(waited);
      without_room_[gpu.index()].clear();
    }
    finish(id);
  }

  void instant() override {
    while (!events_.empty() && !is_future(events_.top().date)) {
      const TimedEvent due = pop(events_);
      due.event == Event::issued ? ready_.push(due.op) : start_flow(due.op);
    }
    while (!ready_.empty()) start(pop(ready_));
    if (!events_.empty()) machine_->wake_at(events_.top().date);
  }

  bool is_future(double date) const {
    return date > machine_->now() + prepared_.resolution;
  }
  const Queue& queue_of(OpId op) const { return plan_.queue(plan_.op(op).queue); }
  SharedMachine::Slot slot_of(OpId op) const {
    return static_cast<SharedMachine::Slot>(plan_.op(op).queue.value);
  }

  void make_ready(OpId op) {
    const double issued = times_[op.index()].start;
    if (is_future(issued))
      events_.push({issued, op, Event::issued});
    else
      ready_.push(op);
  }

  void start(OpId id) {
    const Op& op = plan_.op(id);
    if (op.kind != OpKind::join &&
        (waits_for_room(id) || !limits_.take_or_wait(id, op.queue)))
      return limits_.pass_on(op.queue, ready_);
    times_[id.index()].start = machine_->now();
    running_[op.queue.index()] = id;
    if (op.kind == OpKind::join) return finish(id);
    op.kind == OpKind::copy && !kernels_.computes(id) ? start_copy(id) : start_kernel(id);
  }

  /// A worker takes a kernel only if it can run immediately: without room on the GPU, the
  /// kernel waits and holds no slot.
  bool waits_for_room(OpId id) {
    const MemoryId gpu = queue_of(id).dst;
    if (!kernels_.computes(id) || !limits_.shares_workers(plan_.op(id).queue))
      return false;
    if (kernels_.of(id).time <= Seconds{0} || room_.has_room(gpu)) return false;
    without_room_[gpu.index()].push_back(id);
    return true;
  }

  void start_copy(OpId id) {
    const CopyRoute* route = prepared_.copies.of(id);
    if (!route) return finish(id);
    const double first_byte = machine_->now() + route->latency.value;
    if (is_future(first_byte)) return events_.push({first_byte, id, Event::latency_paid});
    start_flow(id);
  }

  void start_flow(OpId id) {
    const auto bytes = uint64_t(copy_bytes(plan_, plan_.op(id)).value);
    if (bytes == 0) return finish(id);
    machine_->start_flow(slot_of(id), prepared_.copies.of(id)->flow, bytes);
  }

  void start_kernel(OpId id) {
    const KernelCost& cost = kernels_.of(id);
    if (cost.time <= Seconds{0}) return finish(id);
    const MemoryId gpu = queue_of(id).dst;
    const Seconds regain =
        room_.is_idle(gpu) ? prepared_.topology.kernels_of(gpu).regain : Seconds{0};
    if (room_.take_or_wait(id, gpu, cost.share)) run_kernel(id, regain);
  }

  void run_kernel(OpId id, Seconds regain) {
    const KernelCost& cost = kernels_.of(id);
    const MemoryId gpu = queue_of(id).dst;
    const Seconds time = regain + cost.under_load(load_factors_[gpu.index()]);
    times_[id.index()].start = machine_->now();
    machine_->start_kernel(slot_of(id), gpu, time.value, cost.share);
  }

  void finish(OpId id) {
    const Op& op = plan_.op(id);
    times_[id.index()].end = machine_->now();
    ++ended_;
    if (op.kind != OpKind::join) limits_.give_back(op.queue);
    const Queue& queue = plan_.queue(op.queue);
    const bool stays = op.kind == OpKind::copy && queue.src != queue.dst &&
                       !limits_.shares_workers(op.queue);
    std::optional<OpId> same_queue;
    for (const OpId next : prepared_.graph.successors(id)) {
      tell(id, next);
      if (--waits_for_[next.index()] > 0) continue;
      const bool follows = stays && plan_.op(next).queue == op.queue;
      if (follows && !is_future(times_[next.index()].start))
        same_queue = next;
      else
        make_ready(next);
    }
    through_.erase(id.index());
    if (same_queue)
      start(*same_queue);  // a copy engine stays with a queue that has another copy
    if (op.kind != OpKind::join) limits_.pass_on(op.queue, ready_);
  }

  /// A join does not run on an engine: its successors get the event latencies of the
  /// operations before the join.
  void tell(OpId from, OpId to) {
    if (between_engines_ + between_gpus_ == 0) return;
    const Op& next = plan_.op(to);
    const auto hear = [&](size_t queue, double at) {
      if (next.kind == OpKind::join) {
        double& last = through_[to.index()][queue];
        last = std::max(last, at);
      } else if (const double later = hand_on(queue, next);
                 later > 0) {  // `start` is the earliest possible start
        double& earliest = times_[to.index()].start;
        earliest = std::max(earliest, at + later);
      }
    };
    if (plan_.op(from).kind != OpKind::join)
      return hear(plan_.op(from).queue.index(), machine_->now());
    if (const auto heard = through_.find(from.index()); heard != through_.end())
      for (const auto& [queue, at] : heard->second) hear(queue, at);
  }

  /// Event latency in seconds between an operation of queue `from` and its successor
  /// `to`: copies have separate engines. Kernels in several streams of a GPU share one
  /// front end.
  double hand_on(size_t from, const Op& to) const {
    const size_t own = to.queue.index();
    if (from == own) return 0;
    if (between_gpus_ > 0 && owners_[from] != owners_[own])
      return std::max(between_engines_, between_gpus_);
    const auto copies = [](const Queue& queue) { return queue.src != queue.dst; };
    return copies(plan_.queues[from]) || copies(plan_.queue(to.queue)) ? between_engines_
                                                                       : 0;
  }

  const PreparedPlan& prepared_;
  const Plan& plan_;
  const PlanKernelCosts& kernels_;
  std::vector<OpTime> times_;  // before an operation starts: its time of issue
  const std::vector<double>& load_factors_;
  EngineLimits limits_;
  KernelRoom room_;
  std::vector<std::vector<OpId>>
      without_room_;  // by memory with workers: kernels that wait for room

  double between_engines_, between_gpus_ = 0;  // seconds, for hand_on
  std::vector<MemoryId> owners_;               // by queue: the GPU of its streams
  /// By join and queue: the latest end of an operation before the join.
  std::unordered_map<size_t, std::map<size_t, double>> through_;
  std::vector<uint32_t> waits_for_;  // by operation: predecessors that have not ended
  std::vector<OpId> running_;        // by queue
  Heap<OpId> ready_;
  Heap<TimedEvent> events_;
  size_t ended_ = 0;
  std::unique_ptr<SharedMachine> machine_;
};

/// Share of the makespan in which the kernels of each memory keep it busy.
std::vector<double> duties(const PreparedPlan& prepared, const std::vector<OpTime>& ops) {
  const Plan& plan = prepared.plan;
  std::vector<double> busy(plan.memories.size(), 0.0);
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (!is_kernel(op.kind)) continue;
    busy[plan.queue(op.queue).dst.index()] +=
        (ops[i].end - ops[i].start) * prepared.kernels.of(OpId{i}).share;
  }
  const double makespan = makespan_of(ops).value;
  for (double& b : busy) b = makespan > 0 ? std::min(1.0, b / makespan) : 0;
  return busy;
}

/// Sets the factors that match the duties of the devices; returns false if they match
/// already. In late passes factors only rise, by an excess that doubles from pass to
/// pass, so that alternating factors and duties converge.
bool adjust(std::vector<double>& factors, const PreparedPlan& prepared,
            const std::vector<OpTime>& ops, double calls_before, int pass) {
  const std::vector<double> duty = duties(prepared, ops);
  const Seconds makespan = makespan_of(ops);
  const int late = pass - free_passes;
  bool changed = false;
  for (const MemoryId gpu : prepared.plan.devices) {
    double& factor = factors[gpu.index()];
    const double right = load_factor(prepared.plan, prepared.topology, gpu,
                                     duty[gpu.index()], makespan, calls_before);
    const bool differs =
        (late < 0 ? std::abs(right - factor) : right - factor) > close_enough * factor;
    changed = changed || differs;
    if (late < 0)
      factor = right;
    else if (differs)
      factor = right * (1 + std::ldexp(close_enough, late));
  }
  return changed;
}

/// The time of issue of each operation.
std::vector<OpTime> issue_times(const Plan& plan, const Topology& topology,
                                const SimOptions& options) {
  std::vector<OpTime> ops(plan.ops.size());
  if (!options.issue_cost) return ops;
  const std::vector<Seconds> issued = tilerail::issue_times(plan, topology);
  for (const auto i : indices(ops)) ops[i].start = issued[i].value;
  return ops;
}

}  // namespace

std::vector<OpTime> simulate(const Plan& plan, const Topology& topology,
                             const SimOptions& options, const MakeMachine& machine) {
  const PreparedPlan prepared{plan, topology, issue_times(plan, topology, options)};
  std::vector<OpTime> ops;
  std::vector<double> factors(topology.memories().size(), 1.0);
  int pass = 0;
  do ops = PlanRun{prepared, factors, machine}.run();
  while (adjust(factors, prepared, ops, options.calls_before, ++pass));
  return ops;
}

}  // namespace tilerail
