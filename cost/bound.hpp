#pragma once

#include <span>
#include <string>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A time that no plan of a problem can be faster than, whatever its policy, and what keeps it there.
struct Bound {
  Seconds time{0};
  std::string binding;  // "kernels of gpu0 to gpu7", "link host->plx0", "group host memory"
};

/// Whether copies between GPUs may be staged on hosts, as those of peer-copies=staged are.
enum class Staging { none, on_hosts };
Staging staging_of(const Plan& plan, const Topology& topology);

/// Whether devices may hold all of A and B from an earlier call, as those of warm=on do.
enum class Caches { empty, warm };

/// Of a problem as `checked` returns it, on these devices. One linear program over the devices' shares of the
/// multiplications, what each has to get for its share, and the ways that these bytes take. docs/model.md#bound
/// Throws InputError when a device has no times for the data type.
Bound lower_bound(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                  Staging staging = Staging::none, Caches caches = Caches::empty);

/// Of a plan's problem, on the devices that it was asked for, and with its stages and caches.
Bound lower_bound(const Plan& plan, const Topology& topology);

}  // namespace tilerail
