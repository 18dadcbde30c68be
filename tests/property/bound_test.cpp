// No plan is simulated to be faster than the bound, on random problems, machines and policies.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "backends/sim/sim_executor.hpp"
#include "cost/bound.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

/// Of a simulation, whose dates are sums of many terms.
constexpr double rounding = 1e-9;

void check_bound(const Case& c, const Topology& machine) {
  RC_LOG() << describe(c) << " on " << machine.name() << std::endl;
  const Plan plan = plan_gemm(c.problem, machine, c.devices, c.policy);
  const Bound bound = lower_bound(plan.problem, machine, c.devices);
  const double simulated = SimExecutor{machine}.execute(plan).makespan().value;
  RC_LOG() << "bound " << bound.time.value << " s (" << bound.binding << "), simulated " << simulated << " s\n";
  RC_ASSERT(bound.time.value >= 0);
  RC_ASSERT(simulated >= bound.time.value * (1 - rounding));
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

}  // namespace
}  // namespace tilerail::testing
