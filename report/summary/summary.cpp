#include "report/summary/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cost/kernel_costs.hpp"
#include "model/base/indices.hpp"
#include "model/base/intervals.hpp"
#include "model/base/text.hpp"
#include "plan/memory_needs.hpp"
#include "report/summary/critical_parts.hpp"
#include "report/summary/group_use.hpp"

namespace tilerail {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// What the kernels of a plan multiply; where none does (axpy, C = beta C), what they add.
Flops flops_of(const Plan& plan) {
  Flops products{0}, sums{0};
  for (const Op& op : plan.ops) (op.kind == OpKind::axpby ? sums : products) += op_flops(op);
  return products > Flops{0} ? products : sums;
}

/// Collects what each resource did, then turns it into shares of the makespan.
class Collector {
 public:
  Collector(const Plan& plan, const Topology& topology, const AnnotatedTimeline& timeline)
      : plan_{plan},
        topology_{topology},
        queues_(plan.queues.size()),
        link_times_(topology.links().size()),
        links_(topology.links().size()),
        group_copies_(topology.groups().size()),
        kernel_times_(topology.memories().size()) {
    for (const auto i : indices(plan.ops)) add(OpId{i}, timeline.ops[i]);
  }

  void fill(Summary& summary) {
    fill_queues(summary);
    fill_links(summary);
    fill_groups(summary);
    for (const MemoryId device : plan_.devices) {
      const double busy = length(kernel_times_[device.index()]);
      summary.devices.push_back({topology_.memory(device).name, busy, summary.makespan_s - busy});
    }
    fill_memories(summary);
    summary.bytes_in = bytes_in_;
    summary.bytes_out = bytes_out_;
    summary.bytes_peer = bytes_peer_;
    summary.bytes_moved = bytes_in_ + bytes_out_ + bytes_peer_;
  }

 private:
  struct LinkLoad {
    double bytes = 0;
    std::set<QueueId> queues;  // that cross it
  };

  void add(OpId id, const AnnotatedOp& run) {
    const Op& op = plan_.op(id);
    Summary::QueueUse& queue = queues_[op.queue.index()];
    queue.busy_s += run.duration();
    queue.bytes += double(run.bytes);
    ++queue.ops;
    const Queue& where = plan_.queue(op.queue);
    if (op.kind == OpKind::copy && where.src != where.dst) add_copy(id, where, run);
    if (is_kernel(op.kind)) {
      kernel_times_[where.dst.index()].add({run.start, run.end});
    }
  }

  void add_copy(OpId id, const Queue& where, const AnnotatedOp& run) {
    const auto bytes = double(run.bytes);
    const bool from_host = topology_.is_host(where.src), to_host = topology_.is_host(where.dst);
    (to_host ? bytes_out_ : from_host ? bytes_in_ : bytes_peer_) += bytes;
    const int parts = topology_.parts(where.src, where.dst);
    for (const auto& [link, crossing] : topology_.links_on(where.src, where.dst)) {
      links_[link.index()].bytes += bytes * crossing / parts;
      links_[link.index()].queues.insert(plan_.op(id).queue);
      link_times_[link.index()].add({run.start, run.end});
    }
    for (const Topology::GroupUse& use : topology_.groups_on(where.src, where.dst))
      group_copies_[use.group.index()].push_back(
          {run.start, run.end, bytes * use.parts / parts, use.forward > 0, use.backward > 0, use.parts, parts});
  }

  /// Matrices that are spread over several memories are counted in each of these.
  void fill_memories(Summary& summary) {
    const auto needs = needs_of_parts(memory_needs(plan_), topology_, plan_.devices);
    for (const auto i : indices(needs)) {
      const Memory& memory = topology_.memories()[i];
      const bool spread = !memory.over.empty();
      summary.memories.push_back({plan_.memories[i], plan_.peak_bytes[i], spread ? 0 : needs[i].matrices});
      if (memory.capacity) summary.memories.back().capacity_bytes = memory.capacity->value;
    }
  }

  void fill_queues(Summary& summary) {
    for (const auto i : indices(queues_)) queues_[i].name = queue_name(plan_, plan_.queues[i]);
    summary.queues = std::move(queues_);
  }

  void fill_links(Summary& summary) {
    for (const auto i : indices(links_)) {
      const Link& link = topology_.links()[i];
      Rate usable = link.bandwidth;
      if (link.per_flow) usable = std::min(usable, *link.per_flow * double(links_[i].queues.size()));
      summary.links.push_back({link.name, length(link_times_[i]), links_[i].bytes,
                               share(links_[i].bytes, usable.value * summary.makespan_s)});
    }
  }

  void fill_groups(Summary& summary) {
    for (const auto i : indices(group_copies_)) {
      const CapacityGroup& group = topology_.groups()[i];
      summary.groups.push_back({group.name, 0, group_utilisation(group, group_copies_[i], summary.makespan_s)});
      for (const GroupCopy& copy : group_copies_[i]) summary.groups.back().bytes += copy.bytes;
    }
  }

  const Plan& plan_;
  const Topology& topology_;
  std::vector<Summary::QueueUse> queues_;
  std::vector<IntervalSet<double>> link_times_;
  std::vector<LinkLoad> links_;
  std::vector<std::vector<GroupCopy>> group_copies_;
  std::vector<IntervalSet<double>> kernel_times_;  // by MemoryId
  double bytes_in_ = 0, bytes_out_ = 0, bytes_peer_ = 0;
};

/// Of equal ones compute comes first, then groups, then links, each by order of the topology.
std::vector<Summary::ResourceUse> most_used(const Summary& summary) {
  std::vector<Summary::ResourceUse> uses;
  const auto add = [&](TimeUse kind, const std::string& name, double used) {
    if (used > 0) uses.push_back({kind, name, used});
  };
  for (const auto& device : summary.devices)
    add(TimeUse::compute, device.name, share(device.busy_s, summary.makespan_s));
  for (const auto& group : summary.groups) add(TimeUse::group, group.name, group.utilisation.value_or(0));
  for (const auto& link : summary.links) add(TimeUse::link, link.name, link.utilisation);
  std::ranges::stable_sort(uses, std::ranges::greater{}, &Summary::ResourceUse::share);
  return uses;
}

/// "40 us a kernel, 4 ms a call; duplex rates"
std::string library_text(const RuntimeCosts& costs) {
  std::vector<std::string> parts;
  const auto add = [&](Seconds time, const char* of) {
    if (time > Seconds{0}) parts.push_back(fmt::format("{} {}", seconds_text(time.value), of));
  };
  add(costs.task, "a kernel"), add(costs.request, "a copy with a host"), add(costs.peer, "a copy between GPUs");
  add(costs.call, "a call");
  if (costs.duplex) parts.emplace_back("duplex rates");
  return fmt::format("{}", fmt::join(parts, ", "));
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
  std::ranges::transform(metrics, energy.metric_values.begin(), [&](const Metric& m) { return m.of(outcome); });
}

}  // namespace

Summary summarize(const Plan& plan, const Topology& topology, const AnnotatedTimeline& timeline,
                  const RunTimes& times) {
  Summary summary;
  summary.metadata = timeline.metadata;
  summary.plan_machine = plan.machine;
  summary.without_effect = plan.origin.without_effect;
  summary.problem = plan.problem;
  summary.library = library_text(plan.runtime);
  if (is_simulation(timeline.metadata.backend) && topology.description().issue.graph)
    summary.graph = graph_cost(plan, topology) != nullptr;
  for (const MemoryId place : {plan.problem.place_a, plan.problem.place_b, plan.problem.place_c}) {
    summary.place.push_back(plan.memories[place.index()]);
  }
  summary.makespan_s = timeline.makespan();
  summary.bound = lower_bound(plan, topology);
  summary.plan_s = times.plan_s;
  summary.execute_s = times.execute_s;
  summary.tflops = share(flops_of(plan).value, summary.makespan_s) / 1e12;
  summary.ops = int64_t(plan.ops.size());
  Collector{plan, topology, timeline}.fill(summary);
  summary.critical_path = critical_parts(plan, topology, timeline, summary);
  summary.most_used = most_used(summary);
  fill_energy(summary, plan);
  return summary;
}

}  // namespace tilerail
