#pragma once

#include <memory>

#include "backends/executor.hpp"
#include "model/machine/topology.hpp"
#include "study/runner.hpp"

namespace tilerail::study {

/// The simulator of this machine. Throws HardwareError in a build without it.
std::unique_ptr<Executor> simulator_of(const Topology& machine);

/// The same, of the call in the middle of those that these settings time, after a first
/// one and those to warm up.
std::unique_ptr<Executor> simulator_of(const Topology& machine,
                                       const RunSettings& settings);

}  // namespace tilerail::study
