#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// What time goes into: kinds of resources, and of pauses between their uses.
enum class TimeUse {
  compute,
  copies,
  engines,
  group,
  issue,
  kernels,
  latency,
  link,
  memory,
  nothing,
  waiting
};

constexpr std::string_view to_string(TimeUse use) {
  constexpr std::array<std::string_view, 11> names{
      "compute", "copies", "engines", "group",   "issue",  "kernels",
      "latency", "link",   "memory",  "nothing", "waiting"};
  return names[size_t(use)];
}

/// A lower limit for the makespan of every plan of a problem, whatever its policy, and
/// the resource that sets it.
struct Bound {
  Seconds time{0};
  TimeUse bound_by = TimeUse::nothing;
  std::string
      binding;  // "kernels of gpu0 to gpu7", "link host->plx0", "group host memory"
  bool is_exact = true;  // false if the solver or the search for cuts gave up: the bound
                         // holds, but may be too low
};

/// Of a problem as `checked` returns it, on these devices. One linear program over the
/// devices' shares of the multiplications, what each has to get for its share, and the
/// links that these bytes cross. docs/model.md#bound `warm`: devices may hold all of A
/// and B from an earlier call, as those of warm=on do. Throws InputError when a device
/// has no times for the data type.
Bound lower_bound(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, bool warm = false);

/// Of a plan's problem, on the devices that it was asked for, and with its caches.
Bound lower_bound(const Plan& plan, const Topology& topology);

}  // namespace tilerail
