#pragma once

#include <memory>

#include "backends/executor.hpp"
#include "model/machine/topology.hpp"
#include "study/runner.hpp"

namespace tilerail::study {

/// The simulator of this machine. Throws HardwareError in a build without it.
std::unique_ptr<Executor> simulator_of(const Topology& machine);

/// The same, of the middle one of the calls timed with these settings, after a first call
/// and warm-up calls.
std::unique_ptr<Executor> simulator_of(const Topology& machine,
                                       const RunSettings& settings);

}  // namespace tilerail::study
