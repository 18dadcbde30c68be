#include "sched/issue_clock.hpp"

#include "sched/shared_streams.hpp"

namespace tilerail {

IssueClock::IssueClock(const Plan& plan, const Topology& topology)
    : plan_{plan},
      topology_{topology},
      stream_of_{shared_streams(plan, topology)},
      thread_(topology.memories().size(), topology.description().issue.per_call.value) {}

/// Waits for other streams, without those for something before what this stream has waited for.
int IssueClock::new_waits(OpId id) {
  const std::size_t stream = stream_of_[plan_.op(id).queue.index()].index();
  int waits = 0;
  for (const OpId dep : plan_.deps_of(id)) {
    const std::size_t other = stream_of_[plan_.op(dep).queue.index()].index();
    if (other == stream) continue;
    const auto [last, is_new] = waited_.try_emplace(stream << 32 | other, dep);
    if (!is_new && dep <= last->second) continue;
    last->second = dep;
    ++waits;
  }
  return waits;
}

double IssueClock::issue(OpId id) {
  const IssueCost& cost = topology_.description().issue;
  const Op& op = plan_.op(id);
  const bool kernel = op.kind == OpKind::gemm || op.kind == OpKind::axpby;
  const MemoryId device = stream_owner(plan_.queue(op.queue), topology_);
  double& thread = thread_[plan_.single_issuer ? 0 : device.index()];
  thread +=
      (kernel ? cost.per_kernel.value_or(cost.per_op) : cost.per_op).value + cost.per_dependency.value * new_waits(id);
  return thread;
}

}  // namespace tilerail
