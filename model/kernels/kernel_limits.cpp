#include "model/kernels/kernel_limits.hpp"

#include <algorithm>

namespace tilerail {
namespace {

constexpr double load_precision =
    1.01;  // margin for the precision of load and times in the simulator

std::optional<Rate> memory_of(const KernelTimes& kernels) {
  if (!kernels.memory_bandwidth) return std::nullopt;
  return *kernels.memory_bandwidth / kernels.share_at_peak();
}

}  // namespace

/// Maximum work of slowed kernels in a time T, as a share: min(d, most_busy) / F(d) for
/// the slowdown F(d) at a duty of d. The maximum is at a point of F or at the largest
/// possible d.
double KernelLimits::work_under_load(double most_busy, bool at_first) const {
  const auto at = [&](double duty) {
    return std::min(duty, most_busy) /
           (at_first ? loaded->load_factor_at_first(duty) : loaded->load_factor(duty));
  };
  double slowed = std::max(at(most_busy), at(1));
  for (const GemmCurve::Load& load : loaded->sustained)
    slowed = std::max(slowed, at(load.duty));
  return std::min(most_busy, std::max(load_precision * slowed, unslowed * most_busy));
}

/// `most_busy` before the slowdown starts, then the limit under load; for a first call,
/// in which the slowdown starts latest.
double KernelLimits::work(double most_busy, Seconds time) const {
  if (!loaded || time <= loaded->sustained_after) return most_busy;
  const GemmCurve::Phases share = loaded->phases(Seconds{0}, time);
  return share.rested * most_busy + share.first * work_under_load(most_busy, true) +
         share.full * work_under_load(most_busy, false);
}

KernelLimits kernel_limits(const KernelTimes& kernels, const GemmProblem& p) {
  KernelLimits limits{
      .rate = {}, .memory = memory_of(kernels), .shortest = kernels.launch};
  if (p.scales_only() || p.routine == Routine::axpy) return limits;
  const GemmCurve& curve = kernels.curve(p.dtype, p.trans_a, p.trans_b);
  const FlopRate of_vectors = kernels.peak_of_vectors(p.dtype, p.trans_a, p.trans_b);
  limits.rate = of_vectors;
  if (p.m == 1 || p.n == 1) return limits;
  limits.rate = kernels.peak(p.dtype, p.trans_a, p.trans_b);
  limits.memory = kernels.peak_memory_rate(p.dtype, p.trans_a, p.trans_b);
  if (curve.tiled) {
    const double faster = curve.tiled->fastest_correction(kernels.tiled_device(p.dtype));
    limits.shortest = std::min(kernels.launch, curve.tiled->launch / faster);
    for (const TiledGemm::InGraph& graph : curve.tiled->in_graph)
      limits.shortest =
          std::min(limits.shortest,
                   std::max(Seconds{0}, curve.tiled->launch / faster - graph.gain));
  }
  limits.unslowed = of_vectors / *limits.rate;  // tiles may have a single row or column
  if (!curve.sustained.empty()) limits.loaded = &curve;
  return limits;
}

}  // namespace tilerail
