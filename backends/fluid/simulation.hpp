#pragma once

#include <vector>

#include "backends/fluid/shared_machine.hpp"
#include "cost/kernel_costs.hpp"
#include "model/machine/topology.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

struct SimOptions {
  bool issue_cost = true;                    // false: handing an operation to a device costs nothing
  double calls_before = usual_calls_before;  // of the plan, without a pause: load is felt some time after a rest
};

/// When each operation of a plan that fits the machine begins and ends in model time. Kernels that slow down while
/// their GPU is busy are simulated again until their times fit how busy it was. docs/model.md#simulator
std::vector<OpTime> simulate(const Plan& plan, const Topology& topology, const SimOptions& options,
                             const MakeMachine& machine);

/// The same by FluidMachine: threads may do so at the same time.
std::vector<OpTime> simulate_fluid(const Plan& plan, const Topology& topology, const SimOptions& options = {});

}  // namespace tilerail
