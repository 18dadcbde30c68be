#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Watts of a device: idle, while GEMMs of a problem fill it, and its limit.
struct DeviceWatts {
  Watts idle, kernels, most;

  /// Energy over `time` if kernels fill the device for `filled`: it lowers its clock
  /// rather than exceed `most`.
  Joules over(Seconds time, Seconds filled) const {
    return std::min(idle * time + (kernels - idle) * filled, most * time);
  }
  /// Watts while kernels fill the device: min(kernels, most).
  Watts sustained() const { return std::min(kernels, most); }
};
/// Absent if the topology has no such watts.
std::optional<DeviceWatts> device_watts(const GemmProblem& problem,
                                        const Topology& topology, MemoryId device);

/// Energy of each device of the plan, in the plan's order, for these times of its
/// operations:
///   min(idle makespan + (kernels - idle) filled, busy makespan),
///   filled = integral of min(1, sum of shares of the running kernels)
/// with the watts of the plan's GEMMs (for all its kernels), else the device's busy
/// watts. The shares are occupancies: concurrent kernels never count for more than a full
/// device. Absent if the topology lacks watts, or times of these GEMMs, for a device of
/// the plan.
std::optional<std::vector<Joules>> device_energies(const Plan& plan,
                                                   const Topology& topology,
                                                   const std::vector<OpTime>& ops);

}  // namespace tilerail
