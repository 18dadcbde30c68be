#include "report/timeline/critical_path.hpp"

#include <algorithm>
#include <cmath>

#include "cost/kernel_costs.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// The number of operations that an engine executes simultaneously.
size_t places(const Engine& engine, const Topology& topology) {
  const Engines& engines = topology.memory(engine.device).engines();
  std::optional<int> limit;
  if (engine.kind == Engine::Kind::h2d) limit = engines.h2d;
  if (engine.kind == Engine::Kind::d2h) limit = engines.d2h;
  if (engine.kind == Engine::Kind::peer) limit = engines.peer;
  if (engine.kind == Engine::Kind::workers) limit = engines.total;
  return size_t(limit.value_or(1));
}

/// When at least `places` of the operations were running. Starts and ends are sorted
/// separately: i + 1 operations have started at starts[i], and fewer than `places` of
/// them are left after ends[i + 1 - places].
IntervalSet<double> full_times(const std::vector<OpTime>& ops, size_t places) {
  std::vector<double> starts, ends;
  for (const OpTime& t : ops) starts.push_back(t.start), ends.push_back(t.end);
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  IntervalSet<double> full;
  for (size_t i = places - 1; i < starts.size(); ++i)
    full.add({starts[i], ends[i + 1 - places]});
  return full;
}

/// Whether the operation needs room on the device: kernels do, and copies within a
/// device, which are kernels there.
bool needs_room(const Plan& plan, const Op& op) {
  const Queue& queue = plan.queue(op.queue);
  return is_kernel(op.kind) || (op.kind == OpKind::copy && queue.src == queue.dst);
}

/// Whether the intervals contain the time immediately before `end`.
bool held_until(const IntervalSet<double>& times, double end) {
  return contains(times, std::nextafter(end, -INFINITY));
}

}  // namespace

Engine engine_of(const Plan& plan, const Op& op, const Topology& topology) {
  const Queue& queue = plan.queue(op.queue);
  const MemoryId device = plan.device_of(op, topology);
  if (topology.memory(device).engines().total) return {Engine::Kind::workers, device};
  if (op.kind != OpKind::copy || queue.src == queue.dst)
    return {Engine::Kind::compute, queue.dst};
  if (topology.is_host(queue.src)) return {Engine::Kind::h2d, queue.dst};
  return {topology.is_host(queue.dst) ? Engine::Kind::d2h : Engine::Kind::peer,
          queue.src};
}

EngineUse::EngineUse(const Plan& plan, const Topology& topology,
                     std::span<const OpTime> times)
    : plan_{plan}, topology_{topology}, times_{times} {
  std::map<Engine, std::vector<OpTime>> ops;
  for (const auto i : indices(plan.ops)) {
    if (plan.ops[i].kind == OpKind::join || times[i].end <= times[i].start) continue;
    const Engine engine = engine_of(plan, plan.ops[i], topology);
    ops[engine].push_back(times[i]);
    ends_[engine].push_back({times[i].end, OpId{i}});
  }
  for (const auto& [engine, times_of] : ops)
    taken_[engine] = full_times(times_of, places(engine, topology));
  for (auto& [engine, ends] : ends_) std::ranges::sort(ends);
  add_rooms();
}

void EngineUse::add_rooms() {
  const auto has_workers = [&](MemoryId gpu) {
    return topology_.memory(gpu).engines().total.has_value();
  };
  if (std::ranges::none_of(plan_.devices, has_workers)) return;
  const PlanKernelCosts costs{plan_, topology_};
  std::map<MemoryId, std::vector<std::pair<double, double>>>
      changes;  // time and change of the occupied room
  for (const auto i : indices(plan_.ops)) {
    const Op& op = plan_.ops[i];
    const MemoryId gpu = plan_.queue(op.queue).dst;
    if (!costs.computes(OpId{i}) || !has_workers(gpu)) continue;
    const double share = costs.of(OpId{i}).share;
    changes[gpu].push_back({times_[i].start, share}),
        changes[gpu].push_back({times_[i].end, -share});
  }
  for (auto& [gpu, steps] : changes) {
    std::ranges::sort(steps);
    double filled = 0, from = 0;
    for (const auto& [at, by] : steps) {
      if (!leaves_room(filled) && at > from) no_room_[gpu].add({from, at});
      filled += by, from = at;
    }
  }
}

EngineUse::Pause EngineUse::pause(OpId op, double from, double to) const {
  if (to <= from) return {to - from, 0, 0};
  const Interval<double> all{from, to};
  IntervalSet<double> held;
  if (const auto taken = taken_.find(engine_of(plan_, plan_.op(op), topology_));
      taken != taken_.end())
    add_intersection(held, taken->second, all);
  const double by_engine = length(held);
  if (const IntervalSet<double>* no_room = no_room_for(op))
    add_intersection(held, *no_room, all);
  const double waiting = length(held);
  return {waiting, to - from - waiting, waiting - by_engine};
}

/// Null if the device was never full, or if the operation needs no room.
const IntervalSet<double>* EngineUse::no_room_for(OpId op) const {
  const auto no_room = no_room_.find(plan_.queue(plan_.op(op).queue).dst);
  return needs_room(plan_, plan_.op(op)) && no_room != no_room_.end() ? &no_room->second
                                                                      : nullptr;
}

std::optional<OpId> EngineUse::freed_by(OpId op, double ready) const {
  const double start = times_[op.index()].start;
  if (plan_.op(op).kind == OpKind::join || start <= ready) return std::nullopt;
  const Engine engine = engine_of(plan_, plan_.op(op), topology_);
  const auto taken = taken_.find(engine);
  if (taken == taken_.end()) return std::nullopt;
  const IntervalSet<double>* no_room = no_room_for(op);
  const Ends& ends = ends_.at(engine);
  auto after = std::ranges::upper_bound(ends, start, {}, &Ends::value_type::first);
  while (after != ends.begin()) {
    const auto& [end, other] = *--after;
    if (end <= ready) break;
    if (held_until(taken->second, end)) return other;
    if (no_room && needs_room(plan_, plan_.op(other)) && held_until(*no_room, end))
      return other;
  }
  return std::nullopt;
}

std::vector<OpId> critical_path(const Plan& plan, std::span<const OpTime> times,
                                const EngineUse& engines) {
  if (plan.ops.empty()) return {};
  std::vector<std::optional<OpId>> before(plan.ops.size()), last(plan.queues.size());
  for (const auto i : indices(plan.ops)) {
    std::optional<OpId>& in_queue = last[plan.ops[i].queue.index()];
    before[i] = in_queue;
    for (const OpId dep : plan.deps_of(OpId{i}))
      if (!before[i] || times[dep.index()].end > times[before[i]->index()].end)
        before[i] = dep;
    in_queue = OpId{i};
  }
  std::vector<OpId> path;
  // Each operation once, so that the walk ends even if a measured timeline contradicts
  // itself.
  std::vector<bool> seen(plan.ops.size());
  const auto end =
      std::ranges::max_element(times, [](auto& a, auto& b) { return a.end < b.end; });
  for (std::optional<OpId> at{size_t(end - times.begin())}; at && !seen[at->index()];) {
    path.push_back(*at);
    seen[at->index()] = true;
    const std::optional<OpId> needed = before[at->index()];
    const std::optional<OpId> holder =
        engines.freed_by(*at, needed ? times[needed->index()].end : 0);
    at = holder && !seen[holder->index()] ? holder : needed;
  }
  return path;
}

}  // namespace tilerail
