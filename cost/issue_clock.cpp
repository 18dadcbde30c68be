#include "cost/issue_clock.hpp"

#include "plan/shared_streams.hpp"

namespace tilerail {

IssueClock::IssueClock(const Plan& plan, const Topology& topology)
    : plan_{plan},
      topology_{topology},
      waits_{plan, topology},
      thread_(topology.memories().size(), topology.description().issue.per_call + plan.runtime.call) {}

Seconds IssueClock::issue(OpId id) {
  const IssueCost& cost = topology_.description().issue;
  const Op& op = plan_.op(id);
  const bool kernel = is_kernel(op.kind);
  const MemoryId device = stream_owner(plan_.queue(op.queue), topology_);
  Seconds& thread = thread_[plan_.single_issuer ? 0 : device.index()];
  thread +=
      (kernel ? plan_.runtime.task + cost.per_kernel.value_or(cost.per_op) : plan_.runtime.request + cost.per_op) +
      cost.per_dependency * static_cast<double>(waits_.before(id).size());
  return thread;
}

}  // namespace tilerail
