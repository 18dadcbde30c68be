#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "plan/validate.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {

/// The memories of the machine two-gpu.
inline constexpr MemoryId host{0}, gpu0{1}, gpu1{2};

/// Plans on the machine two-gpu; each plan is validated.
class OnTwoGpu : public ::testing::Test {
 protected:
  Topology machine = shipped("two-gpu");
  Plan plan(const GemmProblem& problem, const Policy& how,
            std::vector<MemoryId> devices = {gpu0}) {
    Plan made = plan_gemm(problem, machine, devices, how);
    validate(made, machine);
    return made;
  }
};

}  // namespace tilerail::testing
