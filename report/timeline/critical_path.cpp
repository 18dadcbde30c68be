#include "report/timeline/critical_path.hpp"

#include <algorithm>
#include <optional>

namespace tilerail {
namespace {

/// How many operations an engine takes at once.
std::size_t places(const Engine& engine, const Topology& topology) {
  const Engines& engines = topology.memory(engine.device).engines;
  std::optional<int> limit;
  if (engine.kind == Engine::Kind::h2d) limit = engines.h2d;
  if (engine.kind == Engine::Kind::d2h) limit = engines.d2h;
  if (engine.kind == Engine::Kind::peer) limit = engines.peer;
  if (engine.kind == Engine::Kind::workers) limit = engines.total;
  return static_cast<std::size_t>(limit.value_or(1));
}

/// When at least `places` of the operations were under way. With starts and ends sorted each by
/// itself, i + 1 operations have started from starts[i] on, and fewer than `places` of them are left from
/// ends[i + 1 - places] on.
IntervalSet<double> full_times(const std::vector<OpTime>& ops, std::size_t places) {
  std::vector<double> starts, ends;
  for (const OpTime& t : ops) starts.push_back(t.start), ends.push_back(t.end);
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  IntervalSet<double> full;
  for (std::size_t i = places - 1; i < starts.size(); ++i) full.add({starts[i], ends[i + 1 - places]});
  return full;
}

}  // namespace

std::vector<OpId> critical_path(const Plan& plan, std::span<const OpTime> times) {
  if (plan.ops.empty()) return {};
  std::vector<std::optional<OpId>> before(plan.ops.size()), last(plan.queues.size());
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    std::optional<OpId>& in_queue = last[plan.ops[i].queue.index()];
    before[i] = in_queue;
    for (const OpId dep : plan.deps_of(OpId{i}))
      if (!before[i] || times[dep.index()].end > times[before[i]->index()].end) before[i] = dep;
    in_queue = OpId{i};
  }
  std::vector<OpId> path;
  const auto end = std::max_element(times.begin(), times.end(), [](auto& a, auto& b) { return a.end < b.end; });
  for (std::optional<OpId> at{static_cast<std::size_t>(end - times.begin())}; at; at = before[at->index()])
    path.push_back(*at);
  return path;
}

Engine engine_of(const Plan& plan, const Op& op, const Topology& topology) {
  const Queue& queue = plan.queue(op.queue);
  const MemoryId device = plan.device_of(op, topology);
  if (topology.memory(device).engines.total) return {Engine::Kind::workers, device};
  if (op.kind != OpKind::copy) return {Engine::Kind::compute, queue.dst};
  if (topology.is_host(queue.src)) return {Engine::Kind::h2d, queue.dst};
  return {topology.is_host(queue.dst) ? Engine::Kind::d2h : Engine::Kind::peer, queue.src};
}

EngineUse::EngineUse(const Plan& plan, const Topology& topology, std::span<const OpTime> times) {
  std::map<Engine, std::vector<OpTime>> ops;
  for (std::size_t i = 0; i < plan.ops.size(); ++i)
    if (plan.ops[i].kind != OpKind::join && times[i].end > times[i].start)
      ops[engine_of(plan, plan.ops[i], topology)].push_back(times[i]);
  for (const auto& [engine, times_of] : ops) taken_[engine] = full_times(times_of, places(engine, topology));
}

EngineUse::Pause EngineUse::pause(const Engine& engine, double from, double to) const {
  if (to <= from) return {to - from, 0};
  const auto taken = taken_.find(engine);
  if (taken == taken_.end()) return {0, to - from};
  const double waiting = length(taken->second & Interval<double>{from, to});
  return {waiting, to - from - waiting};
}

}  // namespace tilerail
