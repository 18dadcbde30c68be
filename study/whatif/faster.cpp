#include "study/whatif/faster.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/machine/figures.hpp"

namespace tilerail::study {
namespace {

constexpr std::array engine_roles{&Engines::h2d, &Engines::d2h, &Engines::peer, &Engines::total};

/// Rates `factor` times as high, times that many times as short.
template <class Part, class Figures>
void make_figures_faster(Part& part, const Figures& figures, double factor) {
  for_each_there(part, figures, [&](const auto& figure, auto& value) {
    if constexpr (requires { figure.figures; })
      make_figures_faster(value, figure.figures, factor);
    else if constexpr (requires { figure.columns; })
      for (auto& row : value) make_figures_faster(row, figure.columns, factor);
    else if constexpr (std::is_same_v<decltype(value), Rate&>)
      value = std::clamp(factor * value, figure.range.least, figure.range.most);
    else if constexpr (std::is_same_v<decltype(value), Seconds&>)
      value = shorter(value, factor);
  });
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

Seconds shorter(Seconds time, double factor) {
  return std::clamp(time / factor, TopologyLimits::latency.least, TopologyLimits::latency.most);
}

void make_faster(Link& link, double factor) {
  const Seconds latency = link.latency;
  make_figures_faster(link, MachineFigures::of_links, factor);
  link.latency = latency;
}

void make_faster(CapacityGroup& group, double factor) { make_figures_faster(group, MachineFigures::of_groups, factor); }

void make_faster(IssueCost& cost, double factor) { make_figures_faster(cost, MachineFigures::of_issue, factor); }

void make_faster(KernelTimes& kernels, double factor) {
  constexpr double rounding = 1 - 1e-9;  // of the rate of a shape, which follows from its time
  const double possible = std::min(factor, rounding * (TopologyLimits::flop_rate.most / highest_rate(kernels)));
  kernels.launch = shorter(kernels.launch, factor);
  const Range<Rate>& rates = TopologyLimits::rate;
  if (kernels.memory_bandwidth)
    kernels.memory_bandwidth = std::clamp(possible * *kernels.memory_bandwidth, rates.least, rates.most);
  for (GemmCurve& curve : kernels.gemm) {
    for (GemmCurve::Point& point : curve.points) point.rate = possible * point.rate;
    if (curve.tiled) make_faster(*curve.tiled, possible);
  }
}

std::optional<int> engines_of(const Memory& memory, size_t role) { return memory.engines.*engine_roles[role]; }

void multiply_engines(Memory& memory, size_t role, double factor) {
  std::optional<int>& engines = memory.engines.*engine_roles[role];
  if (!engines) return;
  if (!std::isfinite(factor)) return engines.reset();
  const double most = TopologyLimits::engines.most;
  engines = int(std::clamp(std::floor(factor * *engines), 1.0, most));
}

}  // namespace tilerail::study
