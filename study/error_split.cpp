#include "study/error_split.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace tilerail::study {
namespace {

/// What an operation runs on: the compute units of a GPU, or the copies of one role of a device.
using Resource = std::tuple<int, MemoryId>;

Resource resource_of(const Plan& plan, const Op& op, const Topology& topology) {
  const Queue& queue = plan.queue(op.queue);
  if (op.kind != OpKind::copy) return {0, queue.dst};
  if (topology.is_host(queue.src)) return {1, queue.dst};
  return {topology.is_host(queue.dst) ? 2 : 3, queue.src};
}

/// When each resource is busy, as merged intervals.
class Busy {
 public:
  Busy(const Plan& plan, const Topology& topology, const Timeline& timeline) {
    for (std::size_t i = 0; i < plan.ops.size(); ++i)
      if (plan.ops[i].kind != OpKind::join && timeline.ops[i].end > timeline.ops[i].start)
        intervals_[resource_of(plan, plan.ops[i], topology)].push_back(timeline.ops[i]);
    for (auto& [_, list] : intervals_) {
      std::sort(list.begin(), list.end(), [](const OpTime& a, const OpTime& b) { return a.start < b.start; });
      std::vector<OpTime> merged;
      for (const OpTime& t : list) {
        if (!merged.empty() && t.start <= merged.back().end)
          merged.back().end = std::max(merged.back().end, t.end);
        else
          merged.push_back(t);
      }
      list = std::move(merged);
    }
  }

  /// Seconds of [from, to] in which the resource is busy.
  double within(const Resource& resource, double from, double to) const {
    const auto found = intervals_.find(resource);
    if (found == intervals_.end() || to <= from) return 0;
    const auto& list = found->second;
    double busy = 0;
    auto t = std::lower_bound(list.begin(), list.end(), from, [](const OpTime& a, double x) { return a.end <= x; });
    for (; t != list.end() && t->start < to; ++t) busy += std::min(to, t->end) - std::max(from, t->start);
    return busy;
  }

 private:
  std::map<Resource, std::vector<OpTime>> intervals_;
};

struct Pause {
  double waiting = 0, issue = 0;
};

/// The pause between two moments before an operation of this resource; negative ones (it started before a dependency of
/// the measured path had ended: not on the critical path of this timeline) count as waiting.
Pause pause(const Busy& busy, const Resource& resource, double from, double to) {
  if (to <= from) return {to - from, 0};
  const double waiting = busy.within(resource, from, to);
  return {waiting, to - from - waiting};
}

/// The last to end of an operation's dependencies and its queue predecessor.
std::vector<std::optional<OpId>> critical_predecessors(const Plan& plan, const Timeline& timeline) {
  std::vector<std::optional<OpId>> result(plan.ops.size()), last(plan.queues.size());
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    std::optional<OpId>& in_queue = last[plan.ops[i].queue.index()];
    std::optional<OpId> latest = in_queue;
    for (const OpId dep : plan.deps_of(OpId{i}))
      if (!latest || timeline.ops[dep.index()].end > timeline.ops[latest->index()].end) latest = dep;
    result[i] = latest;
    in_queue = OpId{i};
  }
  return result;
}

}  // namespace

ErrorSplit split_error(const Plan& plan, const Topology& topology, const Timeline& predicted,
                       const Timeline& measured) {
  ErrorSplit split;
  if (plan.ops.empty()) return split;
  const auto before = critical_predecessors(plan, measured);
  const Busy busy_predicted{plan, topology, predicted}, busy_measured{plan, topology, measured};
  const auto last = std::max_element(measured.ops.begin(), measured.ops.end(),
                                     [](const OpTime& a, const OpTime& b) { return a.end < b.end; });
  std::optional<OpId> at{static_cast<std::size_t>(last - measured.ops.begin())};
  split.waiting = predicted.makespan().value - predicted.ops[at->index()].end;
  for (; at; at = before[at->index()]) {
    const Op& op = plan.op(*at);
    const OpTime &p = predicted.ops[at->index()], &m = measured.ops[at->index()];
    (op.kind == OpKind::copy ? split.copy : split.kernel) += (p.end - p.start) - (m.end - m.start);
    const auto& previous = before[at->index()];
    const Resource resource = resource_of(plan, op, topology);
    const Pause in_p = pause(busy_predicted, resource, previous ? predicted.ops[previous->index()].end : 0, p.start);
    const Pause in_m = pause(busy_measured, resource, previous ? measured.ops[previous->index()].end : 0, m.start);
    split.waiting += in_p.waiting - in_m.waiting;
    split.issue += in_p.issue - in_m.issue;
  }
  return split;
}

}  // namespace tilerail::study
