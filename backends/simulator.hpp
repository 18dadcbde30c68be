#pragma once

#include <memory>

#include "backends/executor.hpp"
#include "cost/kernel_costs.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The simulator of this machine, of a call after so many; nothing in a build without
/// SimGrid.
std::unique_ptr<Executor> make_simulator(const Topology& topology,
                                         double calls_before = usual_calls_before);

}  // namespace tilerail
