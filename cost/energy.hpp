#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// What a device draws idle, what GEMMs of a problem that fill it would, and what it is
/// allowed.
struct DeviceWatts {
  Watts idle, kernels, most;

  /// Of a device that kernels fill for `filled` of so many seconds: it clocks lower
  /// rather than draw more than `most`.
  Joules over(Seconds time, Seconds filled) const {
    return std::min(idle * time + (kernels - idle) * filled, most * time);
  }
  /// Watts while kernels fill the device: min(kernels, most).
  Watts sustained() const { return std::min(kernels, most); }
};
/// Absent where the topology does not say.
std::optional<DeviceWatts> device_watts(const GemmProblem& problem,
                                        const Topology& topology, MemoryId device);

/// Energy of each device of the plan, in the plan's order, when its operations ran at
/// these times:
///   min( idle makespan + (kernels - idle) filled, busy makespan ),   filled = integral
///   of min(1, sum of shares of the kernels that run)
/// with the watts of the plan's GEMMs (for all its kernels), else the device's busy
/// watts. The shares are occupancies, so that kernels side by side never count for more
/// than a full device. Absent where the topology gives a device of the plan no watts, or
/// no times of these GEMMs.
std::optional<std::vector<Joules>> device_energies(const Plan& plan,
                                                   const Topology& topology,
                                                   const std::vector<OpTime>& ops);

}  // namespace tilerail
