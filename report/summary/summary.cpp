#include "report/summary/summary.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "cost/energy.hpp"
#include "model/base/indices.hpp"
#include "model/base/intervals.hpp"
#include "model/machine/layout_text.hpp"
#include "plan/describe.hpp"
#include "plan/memory_needs.hpp"
#include "report/summary/group_use.hpp"
#include "report/timeline/critical_path.hpp"

namespace tilerail {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// The flops of the products in a plan; without products (axpy, C = beta C), of the
/// additions.
Flops flops_of(const Plan& plan) {
  Flops products{0}, sums{0};
  for (const Op& op : plan.ops)
    (op.kind == OpKind::axpby ? sums : products) += op_flops(op, plan.operands_of(op));
  return products > Flops{0} ? products : sums;
}

/// Collects the use of each resource.
class Collector {
 public:
  Collector(const Plan& plan, const Topology& topology, Summary& summary)
      : plan_{plan},
        topology_{topology},
        summary_{summary},
        link_queues_(topology.links().size()),
        group_copies_(topology.groups().size()),
        kernel_times_(topology.memories().size()) {
    for (const Queue& queue : plan.queues)
      summary.queues.push_back({queue_name(plan, queue)});
    for (const Link& link : topology.links()) summary.links.push_back({link.name});
    for (const CapacityGroup& group : topology.groups())
      summary.groups.push_back({group.name});
  }

  void add(const Op& op, const AnnotatedOp& run) {
    Summary::QueueUse& queue = summary_.queues[op.queue.index()];
    queue.busy_s += run.duration();
    queue.bytes += double(run.bytes);
    ++queue.ops;
    const Queue& where = plan_.queue(op.queue);
    if (op.kind == OpKind::copy && where.src != where.dst) add_copy(op.queue, run);
    if (is_kernel(op.kind)) kernel_times_[where.dst.index()].add({run.start, run.end});
  }

  /// Call this after the last operation.
  void finish() {
    for (const MemoryId device : plan_.devices)
      summary_.devices.push_back(
          {topology_.processor_name(device), length(kernel_times_[device.index()])});
    for (const auto i : indices(summary_.links))
      finish_link(topology_.links()[i], summary_.links[i], link_queues_[i]);
    for (const auto i : indices(summary_.groups))
      summary_.groups[i].utilisation =
          group_utilisation(topology_.groups()[i], group_copies_[i], summary_.makespan_s);
    summary_.bytes_moved = summary_.bytes_in + summary_.bytes_out + summary_.bytes_peer;
  }

 private:
  void add_copy(QueueId queue, const AnnotatedOp& run) {
    const MemoryId src = plan_.queue(queue).src, dst = plan_.queue(queue).dst;
    const auto bytes = double(run.bytes);
    double& moved = topology_.is_host(dst)   ? summary_.bytes_out
                    : topology_.is_host(src) ? summary_.bytes_in
                                             : summary_.bytes_peer;
    moved += bytes;
    const int parts = topology_.parts(src, dst);
    for (const auto& [link, crossing] : topology_.links_on(src, dst)) {
      summary_.links[link.index()].bytes += bytes * crossing / parts;
      link_queues_[link.index()].insert(queue);
    }
    for (const Topology::GroupUse& use : topology_.groups_on(src, dst)) {
      const double crossing = bytes * use.parts / parts;
      summary_.groups[use.group.index()].bytes += crossing;
      group_copies_[use.group.index()].push_back({run.start, run.end, crossing,
                                                  use.forward > 0, use.backward > 0,
                                                  use.parts, parts});
    }
  }

  void finish_link(const Link& link, Summary::LinkUse& use,
                   const std::set<QueueId>& queues) const {
    Rate usable = link.bandwidth;
    if (link.per_flow) usable = std::min(usable, *link.per_flow * double(queues.size()));
    use.utilisation = share(use.bytes, usable.value * summary_.makespan_s);
  }

  const Plan& plan_;
  const Topology& topology_;
  Summary& summary_;
  std::vector<std::set<QueueId>> link_queues_;  // crossing the link
  std::vector<std::vector<GroupCopy>> group_copies_;
  std::vector<IntervalSet<double>> kernel_times_;  // by MemoryId
};

std::vector<Summary::MemoryUse> memory_uses(const Plan& plan, const Topology& topology) {
  std::vector<Summary::MemoryUse> uses;
  const auto needs = memory_needs(plan, topology);
  for (const auto i : indices(needs)) {
    const Memory& memory = topology.memories()[i];
    uses.push_back({plan.memories[i], plan.peak_bytes[i], needs[i].matrices});
    if (memory.capacity) uses.back().capacity_bytes = memory.capacity->value;
  }
  return uses;
}

/// Ties: compute, then groups, then links, each by order of the topology.
std::optional<Summary::ResourceUse> busiest_of(const Summary& summary) {
  Summary::ResourceUse busiest{TimeUse::compute, ""};
  const auto consider = [&](TimeUse kind, const std::string& name, double used) {
    if (used > busiest.share) busiest = {kind, name, used};
  };
  for (const auto& device : summary.devices)
    consider(TimeUse::compute, device.name, share(device.busy_s, summary.makespan_s));
  for (const auto& group : summary.groups)
    consider(TimeUse::group, group.name, group.utilisation.value_or(0));
  for (const auto& link : summary.links)
    consider(TimeUse::link, link.name, *link.utilisation);
  return busiest.share > 0 ? std::optional{busiest} : std::nullopt;
}

using Part = std::pair<TimeUse, std::string>;  // kind and name

const char* waited_for(Engine::Kind engine) {
  if (engine == Engine::Kind::compute) return "kernels";
  return engine == Engine::Kind::workers ? "workers" : "copies";
}

/// Ties prefer the group, because it bounds all of its links together.
Part busiest_on_route(const Queue& queue, const Topology& topology, const Summary& used) {
  Part busiest{TimeUse::memory, topology.memory(queue.src).name};
  double most = -1;
  const auto consider = [&](TimeUse kind, const std::string& name, double utilisation) {
    if (utilisation > most) busiest = {kind, name}, most = utilisation;
  };
  for (const Topology::GroupUse& use : topology.groups_on(queue.src, queue.dst)) {
    const Summary::LinkUse& group = used.groups[use.group.index()];
    if (group.utilisation) consider(TimeUse::group, group.name, *group.utilisation);
  }
  for (const LinkId id : topology.route(queue.src, queue.dst)) {
    const Summary::LinkUse& link = used.links[id.index()];
    consider(TimeUse::link, link.name, *link.utilisation);
  }
  return busiest;
}

/// The parts of the critical path, longest first; their seconds add up to the makespan. A
/// copy counts as its most used link or group in the whole run, according to `used` (by
/// LinkId and GroupId).
std::vector<Summary::PathPart> critical_parts(const Plan& plan, const Topology& topology,
                                              const AnnotatedTimeline& timeline,
                                              const Summary& used) {
  std::vector<OpTime> times;
  times.reserve(timeline.ops.size());
  for (const AnnotatedOp& op : timeline.ops) times.push_back({op.start, op.end});
  const EngineUse engines{plan, topology, times};
  const std::vector<OpId> path = critical_path(plan, times, engines);
  std::map<Part, double> parts;
  for (const auto i : indices(path)) {
    const Op& op = plan.op(path[i]);
    const OpTime& time = times[path[i].index()];
    const Part part = op.kind == OpKind::copy
                          ? busiest_on_route(plan.queue(op.queue), topology, used)
                          : Part{TimeUse::kernels, ""};
    parts[part] += time.end - time.start;
    const Engine engine = engine_of(plan, op, topology);
    const double before = i + 1 < path.size() ? times[path[i + 1].index()].end : 0;
    const EngineUse::Pause pause = engines.pause(path[i], before, time.start);
    parts[{TimeUse::waiting, waited_for(engine.kind)}] += pause.waiting - pause.room;
    parts[{TimeUse::waiting, waited_for(Engine::Kind::compute)}] += pause.room;
    parts[{TimeUse::issue, ""}] += pause.issue;
  }
  std::vector<Summary::PathPart> result;
  for (const auto& [part, seconds] : parts)
    if (seconds != 0) result.push_back({part.first, part.second, seconds});
  std::ranges::stable_sort(result, std::ranges::greater{}, &Summary::PathPart::seconds);
  return result;
}

void fill_energy(Summary& summary, const Plan& plan) {
  const std::vector<double>& energies = summary.metadata.energy_j;
  for (const auto d : indices(energies)) summary.devices[d].energy_j = energies[d];
  if (energies.empty() || summary.makespan_s == 0) return;
  const Seconds makespan{summary.makespan_s};
  const Joules joules{std::accumulate(energies.begin(), energies.end(), 0.0)};
  Summary::Energy& energy = *(summary.energy = Summary::Energy{});
  energy.joules = joules.value;
  energy.watts = (joules / makespan).value;
  energy.edp = energy_delay(joules, makespan);
  const Outcome outcome{flops_of(plan), makespan, joules};
  std::ranges::transform(metrics, energy.metric_values.begin(),
                         [&](const Metric& m) { return m.of(outcome); });
}

}  // namespace

Summary summarize(const Plan& plan, const Topology& topology,
                  const AnnotatedTimeline& timeline, const RunTimes& times) {
  Summary summary;
  summary.metadata = timeline.metadata;
  summary.plan_machine = plan.machine;
  summary.plan_cache = reason_text(plan.origin, PlanReason::tuned);
  summary.without_effect = plan.origin.without_effect;
  summary.problem = plan.gemm();
  for (const Tensor& tensor : plan.tensors)
    summary.place.push_back(layout_text(tensor.layout, topology));
  summary.makespan_s = timeline.makespan();
  summary.bound = lower_bound(plan, topology);
  summary.plan_s = times.plan_s;
  summary.execute_s = times.execute_s;
  summary.tflops = share(flops_of(plan).value, summary.makespan_s) / 1e12;
  summary.ops = int64_t(plan.ops.size());
  Collector collector{plan, topology, summary};
  for (const auto i : indices(plan.ops)) collector.add(plan.ops[i], timeline.ops[i]);
  collector.finish();
  summary.memories = memory_uses(plan, topology);
  summary.critical_path = critical_parts(plan, topology, timeline, summary);
  summary.busiest = busiest_of(summary);
  fill_energy(summary, plan);
  return summary;
}

}  // namespace tilerail
