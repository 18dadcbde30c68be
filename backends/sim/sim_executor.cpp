#include "backends/sim/sim_executor.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "backends/sim/plan_run.hpp"
#include "cost/issue_clock.hpp"
#include "cost/kernel_costs.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

std::mutex one_simulation_at_a_time;  // SimGrid has one engine a process

constexpr int most_passes = 6;
constexpr double close_enough = 2e-3;  // of a factor

/// Share of the makespan that each memory's kernels keep it busy.
std::vector<double> duties(const Plan& plan, const Topology& topology, const Timeline& timeline) {
  const PlanKernelCosts costs{plan, topology};
  std::vector<double> busy(topology.memories().size(), 0.0);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (!is_kernel(op.kind)) continue;
    busy[plan.queue(op.queue).dst.index()] += (timeline.ops[i].end - timeline.ops[i].start) * costs.of(OpId{i}).share;
  }
  const double makespan = timeline.makespan().value;
  for (double& b : busy) b = makespan > 0 ? std::min(1.0, b / makespan) : 0;
  return busy;
}

/// The factors that go with how busy the devices were; false where those were used already.
bool adjust(std::vector<double>& factors, const Plan& plan, const Topology& topology, const Timeline& timeline) {
  const std::vector<double> duty = duties(plan, topology, timeline);
  bool changed = false;
  for (const MemoryId gpu : plan.devices) {
    double& factor = factors[gpu.index()];
    const double right = load_factor(plan, topology, gpu, duty[gpu.index()]);
    changed = changed || std::abs(right - factor) > close_enough * factor;
    factor = right;
  }
  return changed;
}

}  // namespace

SimExecutor::SimExecutor(Topology topology, SimOptions options) : topology_{std::move(topology)}, options_{options} {}

Timeline SimExecutor::execute(const Plan& plan) {
  validate(plan, topology_);
  Timeline timeline{simulator_backend, content_hash(plan), std::vector<OpTime>(plan.ops.size())};
  if (options_.issue_cost) {
    IssueClock clock{plan, topology_};
    for (std::size_t i = 0; i < plan.ops.size(); ++i) timeline.ops[i].start = clock.issue(OpId{i}).value;
  }
  const std::vector<OpTime> issued = timeline.ops;
  const std::lock_guard lock{one_simulation_at_a_time};
  std::vector<double> factors(topology_.memories().size(), 1.0);
  for (int pass = 0; pass < most_passes; ++pass) {
    timeline.ops = issued;
    PlanRun{plan, topology_, factors, timeline.ops}.run();
    if (!adjust(factors, plan, topology_, timeline)) break;
  }
  return timeline;
}

}  // namespace tilerail
