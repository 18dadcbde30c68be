#pragma once

#include <optional>
#include <span>
#include <string>

#include "cost/time_use.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A lower limit for the makespan of every plan of a problem, whatever its policy, and the resource that sets it.
struct Bound {
  Seconds time{0};
  TimeUse bound_by = TimeUse::nothing;
  std::string binding;   // "kernels of gpu0 to gpu7", "link host->plx0", "group host memory"
  bool is_exact = true;  // false if the solver or the search for cuts gave up: the bound holds, but may be too low
};

/// The rate of kernels that load slows: the peak, or the rate that a device sustains while it computes all the time.
/// Only with the peak is the bound one of every plan.
enum class Pace { peak, sustained };

/// Whether devices may hold all of A and B from an earlier call, as those of warm=on do.
enum class Caches { empty, warm };

/// Of a problem as `checked` returns it, on these devices. One linear program over the devices' shares of the
/// multiplications, what each has to get for its share, and the links that these bytes cross. docs/model.md#bound
/// Throws InputError when a device has no times for the data type.
Bound lower_bound(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                  Caches caches = Caches::empty, Pace pace = Pace::peak);

/// Of a plan's problem, on the devices that it was asked for, and with its caches.
Bound lower_bound(const Plan& plan, const Topology& topology);

/// The bound with sustained rates, for plans whose devices compute all the time. Absent if load slows no kernels of the
/// machine, or if it is not higher than `bound`.
std::optional<Seconds> sustained_bound(const Plan& plan, const Topology& topology, const Bound& bound);

}  // namespace tilerail
