#include "cost/graph_gain.hpp"

#include <algorithm>
#include <vector>

#include "cost/copy_times.hpp"
#include "cost/issue_clock.hpp"
#include "cost/kernel_costs.hpp"
#include "model/base/indices.hpp"
#include "plan/op_kinds.hpp"
#include "plan/shared_streams.hpp"

namespace tilerail {
namespace {

constexpr double worth_it = 0.4;  // docs/experiments.md: plans measured as graphs and operation by operation

/// What a device does at once: kernels, and copies in from and out to each side.
struct Work {
  Seconds kernels{0}, in{0}, out{0}, peer{0};
  Seconds longest() const { return std::max({kernels, in, out, peer}); }
};

/// The longest work of a device or of a stream of kernels, each copy as slow as its columns make it.
Seconds longest_work(const Plan& plan, const Topology& topology) {
  const PlanKernelCosts kernels{plan, topology, cost_as_graph(plan, topology) != nullptr};
  std::vector<Work> works(topology.memories().size());
  std::vector<Seconds> streams(plan.queues.size(), Seconds{0});  // of kernels, one after another
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    const Queue& queue = plan.queue(op.queue);
    Work& work = works[stream_owner(queue, topology).index()];
    if (kernels.computes(OpId{i})) {
      const KernelCost& cost = kernels.of(OpId{i});
      work.kernels += cost.share * cost.time;
      streams[op.queue.index()] += cost.time;
    } else if (op.kind == OpKind::copy && topology.has_route(queue.src, queue.dst)) {  // else no plan comes of it
      Seconds& copies = topology.is_host(queue.src) ? work.in : topology.is_host(queue.dst) ? work.out : work.peer;
      copies += flow_time(plan, op, topology, {});
    }
  }
  Seconds longest = streams.empty() ? Seconds{0} : *std::ranges::max_element(streams);
  for (const Work& work : works) longest = std::max(longest, work.longest());
  return longest;
}

}  // namespace

bool gains_as_graph(const Plan& plan, const Topology& topology) {
  if (plan.ops.size() > most_graph_operations) return false;
  IssueClock threads{plan, topology, IssueClock::Hands::threads};
  Seconds issued{0};
  for (const auto i : indices(plan.ops)) issued = std::max(issued, threads.issue(OpId{i}));
  return issued > worth_it * longest_work(plan, topology);
}

}  // namespace tilerail
