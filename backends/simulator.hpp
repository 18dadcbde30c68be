#pragma once

#include <memory>

#include "backends/executor.hpp"
#include "cost/kernel_costs.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The simulator of this machine, for a call after `calls_before` calls; null in a build
/// without SimGrid.
std::unique_ptr<Executor> make_simulator(const Topology& topology,
                                         double calls_before = usual_calls_before);

}  // namespace tilerail
