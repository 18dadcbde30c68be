#include "backends/fluid/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "backends/fluid/fluid_machine.hpp"
#include "backends/fluid/plan_run.hpp"
#include "cost/issue_times.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr int free_passes = 6;         // after which factors rise only
constexpr double close_enough = 2e-3;  // of a factor

/// Share of the makespan that each memory's kernels keep it busy.
std::vector<double> duties(const PreparedPlan& prepared, const std::vector<OpTime>& ops) {
  const Plan& plan = prepared.plan;
  std::vector<double> busy(plan.memories.size(), 0.0);
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (!is_kernel(op.kind)) continue;
    busy[plan.queue(op.queue).dst.index()] += (ops[i].end - ops[i].start) * prepared.kernels.of(OpId{i}).share;
  }
  const double makespan = makespan_of(ops).value;
  for (double& b : busy) b = makespan > 0 ? std::min(1.0, b / makespan) : 0;
  return busy;
}

/// The factors that go with how busy the devices were; false where those were used already. Devices whose factors and
/// duties chase each other get no less than what goes with their duty: more by what doubles from pass to pass, so that
/// this ends.
bool adjust(std::vector<double>& factors, const PreparedPlan& prepared, const std::vector<OpTime>& ops,
            double calls_before, int pass) {
  const std::vector<double> duty = duties(prepared, ops);
  const Seconds makespan = makespan_of(ops);
  const int late = pass - free_passes;
  bool changed = false;
  for (const MemoryId gpu : prepared.plan.devices) {
    double& factor = factors[gpu.index()];
    const double right = load_factor(prepared.plan, prepared.topology, gpu, duty[gpu.index()], makespan, calls_before);
    const bool differs = (late < 0 ? std::abs(right - factor) : right - factor) > close_enough * factor;
    changed = changed || differs;
    if (late < 0)
      factor = right;
    else if (differs)
      factor = right * (1 + std::ldexp(close_enough, late));
  }
  return changed;
}

/// When each operation is issued.
std::vector<OpTime> issue_times(const Plan& plan, const Topology& topology, const SimOptions& options) {
  std::vector<OpTime> ops(plan.ops.size());
  if (!options.issue_cost) return ops;
  const std::vector<Seconds> issued = tilerail::issue_times(plan, topology);
  for (const auto i : indices(ops)) ops[i].start = issued[i].value;
  return ops;
}

}  // namespace

std::vector<OpTime> simulate(const Plan& plan, const Topology& topology, const SimOptions& options,
                             const MakeMachine& machine) {
  const std::vector<OpTime> issued = issue_times(plan, topology, options);
  const PreparedPlan prepared{plan, topology, issued};
  std::vector<OpTime> ops;
  std::vector<double> factors(topology.memories().size(), 1.0);
  int pass = 0;
  do PlanRun{prepared, factors, ops, machine}.run();
  while (adjust(factors, prepared, ops, options.calls_before, ++pass));
  return ops;
}

std::vector<OpTime> simulate_fluid(const Plan& plan, const Topology& topology, const SimOptions& options) {
  const auto machine = [](const Topology& t, const SharedMachine::Options& o, SharedMachine::Listener& listener) {
    return std::make_unique<FluidMachine>(t, o, listener);
  };
  return simulate(plan, topology, options, machine);
}

}  // namespace tilerail
