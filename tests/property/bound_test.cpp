// No plan is simulated to be faster than the bound, on random problems, machines and policies.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "backends/fluid/simulation.hpp"
#include "cost/bound.hpp"
#include "model/kernels/kernel_limits.hpp"
#include "model/machine/topology_writer.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

/// Of a simulation, whose dates are sums of many terms, and which takes what is 1 ps apart for simultaneous.
constexpr double rounding = 1e-9, picosecond = 1e-12;

void check_bound(const Case& c, const Topology& machine) {
  RC_LOG() << describe(c) << " on " << machine.name() << std::endl;
  Policy policy = c.policy;
  if (*rc::gen::inRange(0, 4) == 0) apply_override(policy, "warm=on");
  const Plan plan = plan_gemm(c.problem, machine, c.devices, policy);
  const Bound bound = lower_bound(plan, machine);
  const double simulated = makespan_of(simulate_fluid(plan, machine)).value;
  RC_LOG() << "bound " << bound.time.value << " s (" << bound.binding << "), simulated " << simulated << " s\n";
  RC_ASSERT(bound.time.value >= 0);
  const double merged = picosecond * static_cast<double>(plan.ops.size());
  RC_ASSERT(simulated >= bound.time.value * (1 - rounding) - merged);
}

/// RapidCheck takes numbers from the lower part of their range, the more so at first; here from all of it. It
/// may call `draw` again when this one has been left.
template <class Draw>
auto over_whole_ranges(Draw draw) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::exec(draw));
}

TEST(LowerBound, HoldsForSmallProblemsOnSmallMachines) {
  EXPECT_TRUE(rc::check("no plan of a small problem is faster than its bound", [] {
    const int gpus = *rc::gen::inRange(1, 9);
    const Case c = random_case(gpus, {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
    check_bound(c, random_machine(c, gpus));
  }));
}

TEST(LowerBound, HoldsOnShippedMachines) {
  EXPECT_TRUE(rc::check("no plan is faster than its bound on the machines that are shipped", [] {
    const Topology machine = test::shipped(*rc::gen::elementOf(test::shipped_names()));
    check_bound(random_case_on(machine), machine);
  }));
}

/// With latencies that are near what a GPU multiplies for, and the links are wide: it is idle for some of the time.
Topology with_pauses(const Topology& machine, const GemmProblem& p) {
  auto d = machine.description();
  const KernelLimits limits = kernel_limits(machine.kernels_of(machine.gpus()[0]), p);
  const Seconds work = limits.rate ? p.flops() / *limits.rate : Seconds{1e-6};
  const Seconds latency = std::min(Seconds{10}, pick({0.03, 0.1, 0.3, 1.0}) * work);
  for (Link& link : d.links) link.latency = latency, link.bandwidth = Rate{1e15};
  return Topology{std::move(d)};
}

/// More than 16 now and then, whose copies among each other the bound does not tell by pairs.
int random_count_of_gpus() {
  return *rc::gen::weightedOneOf<int>({{50, rc::gen::element(1, 1, 1, 2, 2, 3, 4, 6)}, {1, rc::gen::inRange(17, 21)}});
}

TEST(LowerBound, HoldsOnMachinesWhoseEveryFigureIsDrawn) {
  EXPECT_TRUE(rc::check("no plan is faster than its bound on any machine", [] {
    const Topology machine = over_whole_ranges([] {
      return random_topology(pick({1, 1, 1, 2, 3}), random_count_of_gpus());
    });
    RC_LOG() << to_toml(machine.description()) << std::endl;
    const auto draw = [machine] { return random_case_in_few_tiles(machine); };
    for (int problem = 0; problem < 3; ++problem) check_bound(over_whole_ranges(draw), machine);
    const Case paused = over_whole_ranges(draw);
    check_bound(paused, with_pauses(machine, paused.problem));
  }));
}

}  // namespace
}  // namespace tilerail::testing
