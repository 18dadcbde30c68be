#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "plan/validate.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {

/// Plans on the machine two-gpu, whose first memory is the host; each plan is validated.
class OnTwoGpu : public ::testing::Test {
 protected:
  static constexpr MemoryId host{0}, gpu0{1}, gpu1{2};

  Topology machine = shipped("two-gpu");
  Plan plan(const GemmProblem& problem, const Policy& how,
            std::vector<MemoryId> devices = {gpu0}) {
    Plan made = plan_gemm(problem, machine, devices, how);
    validate(made, machine);
    return made;
  }
};

}  // namespace tilerail::testing
