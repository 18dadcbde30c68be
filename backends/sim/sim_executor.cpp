#include "backends/sim/sim_executor.hpp"

#include <mutex>
#include <utility>

#include "backends/sim/issue.hpp"
#include "backends/sim/plan_run.hpp"

namespace tilerail {
namespace {

std::mutex one_simulation_at_a_time;  // SimGrid has one engine a process

}  // namespace

SimExecutor::SimExecutor(Topology topology, SimOptions options) : topology_{std::move(topology)}, options_{options} {}

Timeline SimExecutor::execute(const Plan& plan) {
  validate(plan, topology_);
  Timeline timeline{"sim", content_hash(plan), std::vector<OpTime>(plan.ops.size())};
  if (options_.issue_cost) set_issue_times(plan, topology_, timeline.ops);
  const std::lock_guard lock{one_simulation_at_a_time};
  PlanRun{plan, topology_, timeline.ops}.run();
  return timeline;
}

}  // namespace tilerail
