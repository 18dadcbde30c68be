#include "cost/issue_clock.hpp"

#include "plan/shared_streams.hpp"

namespace tilerail {

IssueClock::IssueClock(const Plan& plan, const Topology& topology)
    : plan_{plan},
      topology_{topology},
      waits_{plan, topology},
      kernels_{topology},
      thread_(topology.memories().size(), topology.description().issue.per_call + plan.runtime.call) {}

Seconds IssueClock::issue(OpId id) {
  const IssueCost& cost = topology_.description().issue;
  const Op& op = plan_.op(id);
  const auto of_op = [&] {
    if (!is_kernel(op.kind)) return cost.per_op;
    return kernels_.of(plan_, op, plan_.buffer(op.y.buffer).memory).issue.value_or(cost.of_kernels());
  };
  const MemoryId device = stream_owner(plan_.queue(op.queue), topology_);
  Seconds& thread = thread_[plan_.single_issuer ? 0 : device.index()];
  thread += runtime_cost(plan_, op, topology_) + of_op() +
            cost.per_dependency * static_cast<double>(waits_.before(id).size());
  return thread;
}

}  // namespace tilerail
