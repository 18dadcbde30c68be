#pragma once

#include <memory>

#include "backends/executor.hpp"
#include "model/machine/topology.hpp"

namespace tilerail::study {

/// The simulator of this machine. Throws HardwareError in a build without it.
std::unique_ptr<Executor> simulator_of(const Topology& machine);

}  // namespace tilerail::study
