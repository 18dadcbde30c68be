#include "backends/sim/issue.hpp"

#include <algorithm>

namespace tilerail {

void set_issue_times(const Plan& plan, const Topology& topology, std::vector<OpTime>& ops) {
  const IssueCost& cost = topology.description().issue;
  std::vector<double> clock(topology.memories().size(), 0.0);  // of each device's thread
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    const auto deps = plan.deps_of(OpId{i});
    const auto waits = std::count_if(deps.begin(), deps.end(), [&](OpId d) { return plan.op(d).queue != op.queue; });
    double& thread = clock[plan.single_issuer ? 0 : plan.device_of(op, topology).index()];
    thread += cost.per_op.value + cost.per_dependency.value * static_cast<double>(waits);
    ops[i].start = thread;
  }
}

}  // namespace tilerail
