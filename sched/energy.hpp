#pragma once

#include <optional>
#include <vector>

#include "model/timeline.hpp"
#include "model/topology.hpp"
#include "sched/plan.hpp"

namespace tilerail {

/// What a device draws, and what it does while GEMMs of a problem fill it; absent where the topology does not say.
struct DeviceWatts {
  Watts idle, kernels;
};
std::optional<DeviceWatts> device_watts(const GemmProblem& problem, const Topology& topology, MemoryId device);

/// Energy of each device of the plan, in the plan's order, when its operations ran at these times:
///   idle makespan + (kernels - idle) filled,   filled = integral of min(1, sum of shares of the kernels that run)
/// with the watts of the plan's GEMMs (for all its kernels), else the device's busy watts. The shares are occupancies,
/// so that kernels side by side never count for more than a full device. Absent where the topology gives a device of
/// the plan no watts, or no times of these GEMMs.
std::optional<std::vector<Joules>> device_energies(const Plan& plan, const Topology& topology,
                                                   const std::vector<OpTime>& ops);

/// What the GPUs of the machine that take no part draw meanwhile; absent where the topology does not say for one of
/// them.
std::optional<Joules> bystander_energy(const Plan& plan, const Topology& topology, Seconds makespan);

}  // namespace tilerail
