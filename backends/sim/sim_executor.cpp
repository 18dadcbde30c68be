#include "backends/sim/sim_executor.hpp"

#include <mutex>
#include <utility>

#include "backends/sim/plan_run.hpp"
#include "sched/issue_clock.hpp"

namespace tilerail {
namespace {

std::mutex one_simulation_at_a_time;  // SimGrid has one engine a process

}  // namespace

SimExecutor::SimExecutor(Topology topology, SimOptions options) : topology_{std::move(topology)}, options_{options} {}

Timeline SimExecutor::execute(const Plan& plan) {
  validate(plan, topology_);
  Timeline timeline{"sim", content_hash(plan), std::vector<OpTime>(plan.ops.size())};
  if (options_.issue_cost) {
    IssueClock clock{plan, topology_};
    for (std::size_t i = 0; i < plan.ops.size(); ++i) timeline.ops[i].start = clock.issue(OpId{i});
  }
  const std::lock_guard lock{one_simulation_at_a_time};
  PlanRun{plan, topology_, timeline.ops}.run();
  return timeline;
}

}  // namespace tilerail
