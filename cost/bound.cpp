#include "cost/bound.hpp"

#include <cmath>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double most_seconds = 1e12;  // no plan takes as long

}  // namespace

Bound lower_bound(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices) {
  const bool product = !problem.scales_only();
  if (problem.m == 0 || problem.n == 0 || (!product && problem.beta == 1)) return {Seconds{0}, "nothing"};
  BoundProgram program{problem, topology, devices};
  // The need falls as T grows: no T is possible that is below one of need 1.
  constexpr double precise = 1e-4;
  double longer = 1e-7;
  while (longer < most_seconds && program.needed(longer) > 1) longer *= 2;
  double shorter = longer / 2;
  while (longer > (1 + precise) * shorter) {
    const double middle = std::sqrt(longer * shorter);
    (program.needed(middle) > 1 ? shorter : longer) = middle;
  }
  program.needed(shorter);
  return {Seconds{shorter * (1 - 1e-6)}, program.binding()};
}

}  // namespace tilerail
