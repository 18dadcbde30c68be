#include "study/whatif/faster.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/base/topology_limits.hpp"

namespace tilerail::study {
namespace {

constexpr std::array engine_roles{&Engines::h2d, &Engines::d2h, &Engines::peer, &Engines::total};

template <class Quantity>
Quantity in_range(const Range<Quantity>& range, Quantity value) {
  return std::clamp(value, range.least, range.most);
}

Rate faster(Rate rate, double factor) { return in_range(TopologyLimits::rate, factor * rate); }

void make_faster(CapacityCurve& curve, double factor) {
  for (CapacityCurve::Point& point : curve.points) point.rate = faster(point.rate, factor);
}

/// The highest rate of any GEMM: points of squares, or of the tiled rule and of what was measured beside it.
FlopRate highest_rate(const KernelTimes& kernels) {
  FlopRate highest{1};
  for (const GemmCurve& curve : kernels.gemm) {
    for (const GemmCurve::Point& point : curve.points) highest = std::max(highest, point.rate);
    if (!curve.tiled) continue;
    highest = std::max(highest, curve.tiled->peak);
    for (const TiledGemm::Shape& s : curve.tiled->shapes)
      highest = std::max(highest, Flops{2 * s.m * s.n * s.k} / s.time);
  }
  return highest;
}

void make_faster(TiledGemm& tiled, double factor) {
  tiled.launch = shorter(tiled.launch, factor), tiled.reduction = shorter(tiled.reduction, factor);
  tiled.peak = factor * tiled.peak;
  for (TiledGemm::Shape& shape : tiled.shapes) shape.time = shape.time / factor;
  for (TiledGemm::InGraph& graph : tiled.in_graph) graph.gain = graph.gain / factor;
}

}  // namespace

Seconds shorter(Seconds time, double factor) { return in_range(TopologyLimits::latency, time / factor); }

void make_faster(Link& link, double factor) {
  link.bandwidth = faster(link.bandwidth, factor);
  if (link.per_flow) link.per_flow = faster(*link.per_flow, factor);
}

void make_faster(CapacityGroup& group, double factor) {
  for (auto* curve : {&group.capacity, &group.both_busy})
    if (*curve) make_faster(**curve, factor);
}

void make_faster(IssueCost& cost, double factor) {
  for (Seconds* each : {&cost.per_op, &cost.per_call, &cost.per_dependency, &cost.hand_on})
    *each = shorter(*each, factor);
  if (cost.per_kernel) cost.per_kernel = shorter(*cost.per_kernel, factor);
  if (GraphCost* const graph = cost.graph ? &*cost.graph : nullptr)
    for (Seconds* each :
         {&graph->per_call, &graph->per_copy, &graph->per_kernel, &graph->per_dependency, &graph->between_gpus})
      *each = shorter(*each, factor);
}

void make_faster(KernelTimes& kernels, double factor) {
  constexpr double rounding = 1 - 1e-9;  // of the rate of a shape, which follows from its time
  const double possible = std::min(factor, rounding * (TopologyLimits::flop_rate.most / highest_rate(kernels)));
  kernels.launch = shorter(kernels.launch, factor);
  if (kernels.memory_bandwidth) kernels.memory_bandwidth = faster(*kernels.memory_bandwidth, possible);
  for (GemmCurve& curve : kernels.gemm) {
    for (GemmCurve::Point& point : curve.points) point.rate = possible * point.rate;
    if (curve.tiled) make_faster(*curve.tiled, possible);
  }
}

std::optional<int> engines_of(const Memory& memory, std::size_t role) { return memory.engines.*engine_roles[role]; }

void multiply_engines(Memory& memory, std::size_t role, double factor) {
  std::optional<int>& engines = memory.engines.*engine_roles[role];
  if (!engines) return;
  if (!std::isfinite(factor)) return engines.reset();
  const double most = TopologyLimits::engines.most;
  engines = static_cast<int>(std::clamp(std::floor(factor * *engines), 1.0, most));
}

}  // namespace tilerail::study
