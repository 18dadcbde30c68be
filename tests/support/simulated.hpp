// Simulated times of planned products.
#pragma once

#include <span>

#include "backends/fluid/simulation.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::testing {

inline Seconds simulated(const Plan& plan, const Topology& machine) {
  return makespan_of(simulate_fluid(plan, machine));
}

/// The plan of the command `simulate`.
inline Plan judged(const GemmProblem& problem, const Topology& machine,
                   std::span<const MemoryId> devices, const Policy& policy) {
  return plan_gemm(problem, machine, devices, policy, study::plan_simulator(machine));
}

}  // namespace tilerail::testing
