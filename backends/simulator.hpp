#pragma once

#include <memory>

#include "backends/executor.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The simulator of this machine; nothing in a build without SimGrid.
std::unique_ptr<Executor> make_simulator(const Topology& topology);

}  // namespace tilerail
