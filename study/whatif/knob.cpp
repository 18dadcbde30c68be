#include "study/whatif/knob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/figures.hpp"

namespace tilerail::study {
namespace {

using Kind = Knob::Kind;

constexpr std::array engine_roles{
    std::pair{"h2d", &Engines::h2d}, std::pair{"d2h", &Engines::d2h},
    std::pair{"peer", &Engines::peer}, std::pair{"total", &Engines::total}};

Seconds shorter(Seconds time, double factor) {
  return std::clamp(time / factor, TopologyLimits::latency.least,
                    TopologyLimits::latency.most);
}

std::string rate_of(const CapacityGroup& group) {
  const auto& curve = group.capacity ? group.capacity : group.both_busy;
  return brief_text(curve->saturated());
}

/// Multiplies rates and divides times by `factor`.
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

/// The highest rate of any GEMM: of points of squares, or of the tiled rule and its
/// measured shapes.
FlopRate highest_rate(const KernelTimes& kernels) {
  FlopRate highest{1};
  for (const GemmCurve& curve : kernels.gemm) {
    for (const GemmCurve::Point& point : curve.points)
      highest = std::max(highest, point.rate);
    if (!curve.tiled) continue;
    highest = std::max(highest, curve.tiled->peak);
    for (const TiledGemm::Shape& s : curve.tiled->shapes)
      highest = std::max(highest, Flops{2 * s.m * s.n * s.k} / s.time);
  }
  return highest;
}

void make_faster(TiledGemm& tiled, double factor) {
  tiled.launch = shorter(tiled.launch, factor),
  tiled.reduction = shorter(tiled.reduction, factor);
  tiled.peak = factor * tiled.peak;
  for (TiledGemm::Shape& shape : tiled.shapes) shape.time = shape.time / factor;
  for (TiledGemm::InGraph& graph : tiled.in_graph) graph.gain = graph.gain / factor;
}

void make_faster(Link& link, double factor) {
  const Seconds latency = link.latency;
  make_figures_faster(link, MachineFigures::of_links, factor);
  link.latency = latency;
}

/// Divides kernel times by `factor`, limited so that the highest rate stays within the
/// range of descriptions. The common launch time is not limited.
void make_faster(KernelTimes& kernels, double factor) {
  constexpr double rounding =
      1 - 1e-9;  // of a shape's rate, which is derived from its time
  const double possible = std::min(
      factor, rounding * (TopologyLimits::flop_rate.most / highest_rate(kernels)));
  kernels.launch = shorter(kernels.launch, factor);
  const Range<Rate>& rates = TopologyLimits::rate;
  if (kernels.memory_bandwidth)
    kernels.memory_bandwidth =
        std::clamp(possible * *kernels.memory_bandwidth, rates.least, rates.most);
  for (GemmCurve& curve : kernels.gemm) {
    for (GemmCurve::Point& point : curve.points) point.rate = possible * point.rate;
    if (curve.tiled) make_faster(*curve.tiled, possible);
  }
}

/// Keeps at least one.
void multiply(std::optional<int>& engines, double factor) {
  if (!std::isfinite(factor)) return engines.reset();
  const double most = TopologyLimits::engines.most;
  engines = int(std::clamp(std::floor(factor * *engines), 1.0, most));
}

std::string peak_text(const KernelTimes& kernels, const GemmProblem& problem) {
  if (!kernels.has_times(problem.dtype, problem.trans_a, problem.trans_b))
    return "unknown";
  return brief_text(kernels.peak(problem.dtype, problem.trans_a, problem.trans_b));
}

void make_faster(Topology::Description& d, const Knob& knob, double factor) {
  switch (knob.kind) {
    case Kind::link:
      return make_faster(d.links[knob.index], factor);
    case Kind::group:
      return make_figures_faster(d.groups[knob.index], MachineFigures::of_groups, factor);
    case Kind::engine:
      return multiply(
          d.memories[knob.index].processor->engines.*engine_roles[knob.role].second,
          factor);
    case Kind::kernels:
      return make_faster(d.kernels[knob.index], factor);
    case Kind::latency:
      for (Link& link : d.links) link.latency = shorter(link.latency, factor);
      return;
    case Kind::issue:
      return make_figures_faster(d.issue, MachineFigures::of_issue, factor);
  }
}

}  // namespace

std::vector<Knob> knobs_of(const Topology& topology, const GemmProblem& problem) {
  std::vector<Knob> knobs;
  const Topology::Description& d = topology.description();
  for (const auto i : indices(d.links))
    knobs.push_back(
        {Kind::link, "link:" + d.links[i].name, brief_text(d.links[i].bandwidth), i});
  for (const auto i : indices(d.groups))
    knobs.push_back({Kind::group, "group:" + d.groups[i].name, rate_of(d.groups[i]), i});
  for (const auto i : indices(d.memories))
    for (const auto role : indices(engine_roles)) {
      const auto& [name, engines] = engine_roles[role];
      const Memory& memory = d.memories[i];
      if (const auto count = memory.engines().*engines)
        knobs.push_back({Kind::engine, fmt::format("engine:{}.{}", memory.name, name),
                         std::to_string(*count), i, role});
    }
  for (const auto i : indices(d.kernels))
    knobs.push_back({Kind::kernels, "kernels:" + d.kernels[i].name,
                     peak_text(d.kernels[i], problem), i});
  Seconds latency{0};
  for (const Link& link : d.links) latency = std::max(latency, link.latency);
  if (latency > Seconds{0})
    knobs.push_back({Kind::latency, "latency", brief_text(latency)});
  knobs.push_back({Kind::issue, "issue", brief_text(d.issue.per_op)});
  return knobs;
}

Topology improved(const Topology& topology, std::span<const Knob> knobs, double factor) {
  Topology::Description d = topology.description();
  std::vector<bool> unbounded(d.groups.size(), false);
  for (const Knob& knob : knobs)
    if (knob.kind == Kind::group && factor == without_limit)
      unbounded[knob.index] = true;
    else
      make_faster(d, knob, factor);
  std::vector<CapacityGroup> groups;
  for (const auto i : indices(d.groups))
    if (!unbounded[i]) groups.push_back(std::move(d.groups[i]));
  d.groups = std::move(groups);
  return Topology{std::move(d)};
}

}  // namespace tilerail::study
