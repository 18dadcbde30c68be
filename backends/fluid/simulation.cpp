#include "backends/fluid/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "backends/fluid/fluid_machine.hpp"
#include "backends/fluid/plan_run.hpp"
#include "cost/issue_clock.hpp"
#include "cost/kernel_costs.hpp"

namespace tilerail {
namespace {

constexpr int most_passes = 6;
constexpr double close_enough = 2e-3;  // of a factor

/// Share of the makespan that each memory's kernels keep it busy.
std::vector<double> duties(const Plan& plan, const Topology& topology, const std::vector<OpTime>& ops) {
  const PlanKernelCosts costs{plan, topology};
  std::vector<double> busy(topology.memories().size(), 0.0);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (!is_kernel(op.kind)) continue;
    busy[plan.queue(op.queue).dst.index()] += (ops[i].end - ops[i].start) * costs.of(OpId{i}).share;
  }
  const double makespan = makespan_of(ops).value;
  for (double& b : busy) b = makespan > 0 ? std::min(1.0, b / makespan) : 0;
  return busy;
}

/// The factors that go with how busy the devices were; false where those were used already.
bool adjust(std::vector<double>& factors, const Plan& plan, const Topology& topology, const std::vector<OpTime>& ops) {
  const std::vector<double> duty = duties(plan, topology, ops);
  bool changed = false;
  for (const MemoryId gpu : plan.devices) {
    double& factor = factors[gpu.index()];
    const double right = load_factor(plan, topology, gpu, duty[gpu.index()]);
    changed = changed || std::abs(right - factor) > close_enough * factor;
    factor = right;
  }
  return changed;
}

/// When each operation is issued.
std::vector<OpTime> issue_times(const Plan& plan, const Topology& topology, const SimOptions& options) {
  std::vector<OpTime> ops(plan.ops.size());
  if (!options.issue_cost) return ops;
  IssueClock clock{plan, topology};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].start = clock.issue(OpId{i}).value;
  return ops;
}

}  // namespace

std::vector<OpTime> simulate(const Plan& plan, const Topology& topology, const SimOptions& options,
                             const MakeMachine& machine) {
  const std::vector<OpTime> issued = issue_times(plan, topology, options);
  std::vector<OpTime> ops;
  std::vector<double> factors(topology.memories().size(), 1.0);
  for (int pass = 0; pass < most_passes; ++pass) {
    ops = issued;
    PlanRun{plan, topology, factors, ops, machine}.run();
    if (!adjust(factors, plan, topology, ops)) break;
  }
  return ops;
}

std::vector<OpTime> simulate_fluid(const Plan& plan, const Topology& topology, const SimOptions& options) {
  const auto machine = [](const Topology& t, const SharedMachine::Options& o, SharedMachine::Listener& listener) {
    return std::make_unique<FluidMachine>(t, o, listener);
  };
  return simulate(plan, topology, options, machine);
}

}  // namespace tilerail
