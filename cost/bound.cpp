#include "cost/bound.hpp"

#include <algorithm>
#include <cmath>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double most_seconds = 1e12, least_seconds = 1e-15;  // no plan takes longer; what takes less takes no time
constexpr double precise = 1e-5;                              // relative
constexpr double rounding = 1e-6;                             // that of the linear programs is far less

/// A makespan at which a need above 1 was found, and that is `precise` below one with a need of at most 1. As the need
/// falls about as 1 / T, the next T is near where it would be 1 then; now and then it is in the middle.
double impossible(BoundProgram& program) {
  constexpr double most_step = 100;
  constexpr int middle_each = 3;
  double shorter = 0, longer = LinearProgram::infinity, beside = precise / 3;
  double time = 1e-3;
  for (int step = 1; longer > (1 + precise) * shorter; ++step) {
    const double need = program.needed(time);
    (need > 1 ? shorter : longer) = time;
    if (longer < least_seconds) return 0;
    if (shorter > most_seconds) return most_seconds;
    time *= std::clamp(need, 1 / most_step, most_step) * (need > 1 ? 1 + beside : 1 - beside);
    const bool is_between = shorter > 0 && longer < LinearProgram::infinity;
    if (!is_between)
      beside = std::min(2 * beside, 0.5);
    else if (step % middle_each == 0 || time <= shorter || time >= longer)
      time = std::sqrt(shorter * longer);
    else
      beside = precise / 3;
  }
  program.needed(longer);  // below it there may be no solution, and then no prices
  return shorter;
}

}  // namespace

Bound lower_bound(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                  Caches caches, Pace pace) {
  const bool product = !problem.scales_only();
  if (problem.m == 0 || problem.n == 0 || (!product && problem.beta == 1)) return {.binding = "nothing"};
  BoundProgram program{problem, topology, devices, caches, pace};
  const double seconds = impossible(program);
  const auto [bound_by, binding] = program.binding();
  return {Seconds{seconds * (1 - rounding)}, bound_by, binding, program.is_exact()};
}

namespace {

Bound lower_bound(const Plan& plan, const Topology& topology, Pace pace) {
  const std::vector<MemoryId>& given = plan.origin.given;
  return lower_bound(plan.problem, topology, given.empty() ? plan.devices : given,
                     plan.warm ? Caches::warm : Caches::empty, pace);
}

}  // namespace

Bound lower_bound(const Plan& plan, const Topology& topology) { return lower_bound(plan, topology, Pace::peak); }

std::optional<Seconds> sustained_bound(const Plan& plan, const Topology& topology, const Bound& bound) {
  const auto is_slowed = [](const KernelTimes& kernels) {
    return std::ranges::any_of(kernels.gemm, [](const GemmCurve& curve) { return !curve.sustained.empty(); });
  };
  if (std::ranges::none_of(topology.description().kernels, is_slowed)) return std::nullopt;
  const Seconds sustained = lower_bound(plan, topology, Pace::sustained).time;
  return sustained > bound.time * (1 + 2 * precise) ? std::optional{sustained} : std::nullopt;
}

}  // namespace tilerail
