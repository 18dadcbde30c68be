// Simulated times of planned products.
#pragma once

#include <span>

#include "backends/fluid/simulation.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/judge.hpp"

namespace tilerail::testing {

inline Seconds simulated(const Plan& plan, const Topology& machine) {
  return makespan_of(simulate_fluid(plan, machine));
}

/// The plan of the command `simulate`.
inline Plan judged(const GemmProblem& problem, const Topology& machine,
                   std::span<const MemoryId> devices, const Policy& policy) {
  return plan_gemm(problem, machine, devices, policy, study::judge_of(machine));
}

}  // namespace tilerail::testing
