#pragma once

#include "model/machine/topology.hpp"
#include "sched/choose/selection.hpp"

namespace tilerail::study {

/// Evaluates plans with the fluid machine, whose times equal the simulator's. Keeps a
/// reference to `topology`.
PlanSimulator plan_simulator(const Topology& topology);

}  // namespace tilerail::study
