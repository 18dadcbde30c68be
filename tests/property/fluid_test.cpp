// The fluid machine gives the same times as SimGrid, on random problems, machines and
// policies.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/sim/sim_executor.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

void check_times(const Case& c, const Topology& machine) {
  RC_LOG() << describe(c) << " on " << machine.name() << std::endl;
  const Plan plan = plan_gemm(c.problem, machine, c.devices, c.policy);
  const std::vector<OpTime> expected = SimExecutor{machine}.execute(plan).ops,
                            times = simulate_fluid(plan, machine);
  RC_ASSERT(times.size() == expected.size());
  constexpr double rounding = 1e-9;  // of dates that are sums of many terms
  const double close = rounding * makespan_of(expected).value;
  for (size_t i = 0; i < times.size(); ++i) {
    RC_LOG() << "operation " << i << ": " << times[i].start << " to " << times[i].end
             << " s, in SimGrid " << expected[i].start << " to " << expected[i].end
             << "\n";
    RC_ASSERT(std::abs(times[i].start - expected[i].start) <= close);
    RC_ASSERT(std::abs(times[i].end - expected[i].end) <= close);
  }
}

TEST(FluidMachine, TakesTheTimesOfSimGridOnSmallMachines) {
  EXPECT_TRUE(
      rc::check("every operation of a small problem begins and ends as in SimGrid", [] {
        const int gpus = *rc::gen::inRange(1, 9);
        const Case c = random_case(
            gpus, {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
        check_times(c, random_machine(c, gpus));
      }));
}

TEST(FluidMachine, TakesTheTimesOfSimGridOnShippedMachines) {
  EXPECT_TRUE(rc::check(
      "every operation begins and ends as in SimGrid on the machines that are shipped",
      [] {
        const Topology machine =
            test::shipped(*rc::gen::elementOf(test::shipped_names()));
        check_times(random_case_on(machine), machine);
      }));
}

}  // namespace
}  // namespace tilerail::testing
