#include "sched/issue_clock.hpp"

#include <algorithm>

#include "sched/shared_streams.hpp"

namespace tilerail {

IssueClock::IssueClock(const Plan& plan, const Topology& topology)
    : plan_{plan},
      topology_{topology},
      stream_of_{shared_streams(plan, topology)},
      thread_(topology.memories().size(), topology.description().issue.per_call.value) {}

double IssueClock::issue(OpId id) {
  const IssueCost& cost = topology_.description().issue;
  const Op& op = plan_.op(id);
  const auto deps = plan_.deps_of(id);
  const auto waits = std::count_if(deps.begin(), deps.end(), [&](OpId dep) {
    return stream_of_[plan_.op(dep).queue.index()] != stream_of_[op.queue.index()];
  });
  double& thread = thread_[plan_.single_issuer ? 0 : plan_.device_of(op, topology_).index()];
  const bool kernel = op.kind == OpKind::gemm || op.kind == OpKind::axpby;
  thread += (kernel ? cost.per_kernel.value_or(cost.per_op) : cost.per_op).value +
            cost.per_dependency.value * static_cast<double>(waits);
  return thread;
}

}  // namespace tilerail
