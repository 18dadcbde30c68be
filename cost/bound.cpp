#include "cost/bound.hpp"

#include <algorithm>
#include <cmath>

#include "cost/bound_program.hpp"
#include "cost/strided_copy.hpp"

namespace tilerail {
namespace {

constexpr double most_seconds = 1e12, least_seconds = 1e-15;  // no plan takes longer; what takes less takes no time
constexpr double precise = 1e-4;                              // relative
constexpr double rounding = 1e-6;                             // that of the linear programs is far less

/// A makespan at which a need above 1 was found. Each such makespan is a bound, whether or not longer ones are.
double impossible(BoundProgram& program) {
  double shorter = 1e-7, longer = shorter;
  if (program.needed(shorter) > 1) {
    for (longer = 2 * shorter; longer < most_seconds && program.needed(longer) > 1; longer *= 2) shorter = longer;
  } else {
    for (shorter /= 2; program.needed(shorter) <= 1; shorter /= 2) {
      longer = shorter;
      if (longer < least_seconds) return 0;
    }
  }
  while (longer > (1 + precise) * shorter) {
    const double middle = std::sqrt(longer * shorter);
    (program.needed(middle) > 1 ? shorter : longer) = middle;
  }
  program.needed(longer);  // below it there may be no solution, and then no prices
  return shorter;
}

}  // namespace

Staging staging_of(const Plan& plan, const Topology& topology) {
  const auto staged = [&](const Buffer& buffer) { return is_stage(buffer, topology); };
  return std::ranges::any_of(plan.buffers, staged) ? Staging::on_hosts : Staging::none;
}

Bound lower_bound(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                  Staging staging, Caches caches) {
  const bool product = !problem.scales_only();
  if (problem.m == 0 || problem.n == 0 || (!product && problem.beta == 1)) return {Seconds{0}, "nothing"};
  BoundProgram program{problem, topology, devices, staging, caches};
  const double seconds = impossible(program);
  return {Seconds{seconds * (1 - rounding)}, program.binding()};
}

Bound lower_bound(const Plan& plan, const Topology& topology) {
  const std::vector<MemoryId>& given = plan.origin.given;
  return lower_bound(plan.problem, topology, given.empty() ? plan.devices : given, staging_of(plan, topology),
                     plan.warm ? Caches::warm : Caches::empty);
}

}  // namespace tilerail
