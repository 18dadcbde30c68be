#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Kinds of resources, and of the pauses between their uses.
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

/// The first resource of the kind that limits a bound.
struct Binding {
  TimeUse kind = TimeUse::nothing;
  std::string name = {};  // of a memory, link, group or engines; "" for latency
  int others = 0;         // of the same kind
};

/// A lower bound of the makespan of every plan of a problem under any policy, and the
/// resource that limits it.
struct Bound {
  Seconds time{0};
  Binding binding = {};
  bool is_exact = true;  // false: the solver or the search for cuts gave up; the bound is
                         // valid, but may be too low
};

/// Bound of a problem (as returned by `checked`) on these devices: one linear program
/// over the devices' shares of the multiplications, the data needed for each share, and
/// the links that these bytes cross. docs/model.md#bound `warm`: devices may hold all of
/// A and B from an earlier call (warm=on). Throws InputError if a device has no times for
/// the data type.
Bound lower_bound(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, bool warm = false);

/// Bound of a plan's problem on the devices that were requested, with the plan's caches.
Bound lower_bound(const Plan& plan, const Topology& topology);

}  // namespace tilerail
