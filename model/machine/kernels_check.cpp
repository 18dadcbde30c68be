#include "model/machine/kernels_check.hpp"

#include <fmt/format.h>

#include <set>
#include <unordered_set>

namespace tilerail {
namespace {

double square_seconds(const GemmCurve::Point& p) { return 2 * p.size * p.size * p.size / p.rate.value; }

void check_tiled(const Entry& entry, const TiledGemm& tiled) {
  entry.require_in(TopologyLimits::latency, tiled.launch, "launch");
  entry.require_in(TopologyLimits::flop_rate, tiled.peak, "peak");
  entry.require_in(TopologyLimits::k_overhead, tiled.fill, "fill");
  entry.require_in(TopologyLimits::latency, tiled.reduction, "reduction");
  entry.require(!tiled.blocks.empty(), "a tiled gemm has no blocks; expected at least one");
  for (const auto& block : tiled.blocks) {
    entry.require_in(TopologyLimits::block, block.rows, "a block");
    entry.require_in(TopologyLimits::block, block.cols, "a block");
    entry.require_in(TopologyLimits::efficiency, block.efficiency, "the efficiency of a block");
  }
  for (const auto& fill : tiled.fills) {
    entry.require_in(TopologyLimits::gemm_size, fill.side, "a side of 'side_by_side'");
    entry.require_in(TopologyLimits::efficiency, fill.share, "a share of 'side_by_side'");
  }
  for (const auto& graph : tiled.in_graph) {
    entry.require_in(TopologyLimits::gemm_size, graph.side, "a side of 'in_graph'");
    entry.require_in(TopologyLimits::latency, graph.gain, "a gain of 'in_graph'");
    entry.require_in(TopologyLimits::efficiency, graph.share, "a share of 'in_graph'");
  }
  for (const auto& shape : tiled.shapes) {
    for (const double side : {shape.m, shape.n, shape.k}) entry.require_in(TopologyLimits::gemm_size, side, "a shape");
    entry.require_in(TopologyLimits::gemm_time, shape.time, "the time of a shape");
    entry.require_in(TopologyLimits::latency, shape.issue, "the issue of a shape");
    entry.require_in(TopologyLimits::flop_rate, Flops{2 * shape.m * shape.n * shape.k} / shape.time,
                     "the rate of a shape");
  }
}

void check_factors(const Entry& entry, const GemmCurve& curve) {
  for (const auto& load : curve.sustained) {
    entry.require_in(TopologyLimits::duty, load.duty, "a duty");
    entry.require_in(TopologyLimits::factor, load.factor, "the factor of a duty");
  }
  if (curve.sustained_after != Seconds{0})
    entry.require_in(TopologyLimits::gemm_time, curve.sustained_after, "sustained_after");
  if (curve.sustained_at_first != 1) {
    entry.require_in(TopologyLimits::duty, curve.sustained_at_first, "sustained_at_first");
    entry.require_in(TopologyLimits::gemm_time, curve.sustained_fully_after, "sustained_fully_after");
  }
  for (const auto& alignment : curve.alignment) {
    entry.require_in(TopologyLimits::alignment, alignment.bytes, "an alignment");
    entry.require_in(TopologyLimits::factor, alignment.factor, "the factor of an alignment");
  }
}

/// Throws where a larger square takes less time: gemm_time could not ascend then.
void check_gemm_curve(const Entry& entry, const GemmCurve& curve) {
  static const std::set<std::string> pairs{"", "NN", "NT", "TN", "TT"};
  if (!pairs.count(curve.trans))
    entry.fail(fmt::format("trans '{}' is unknown; expected NN, NT, TN or TT", curve.trans));
  entry.require_in(TopologyLimits::gemm_watts, curve.watts, "the watts of a gemm");
  check_factors(entry, curve);
  if (curve.tiled) return check_tiled(entry, *curve.tiled);
  entry.require(!curve.points.empty(), "a gemm curve has no points; expected at least one");
  entry.require_few(curve.points.size(), "a gemm curve has");
  const GemmCurve::Point* last = nullptr;
  for (const auto& point : curve.points) {
    entry.require_in(TopologyLimits::gemm_size, point.size, "a gemm size");
    entry.require_in(TopologyLimits::flop_rate, point.rate, "a gemm rate");
    if (last) {
      entry.require(point.size > last->size, "the gemm sizes do not ascend; expected ascending sizes");
      // 1e-9: a rate that was computed from a time carries its rounding
      if (square_seconds(point) < square_seconds(*last) * (1 - 1e-9))
        entry.fail(fmt::format(
            "the gemm of size {} takes less time than the smaller one before it; expected times that do not fall",
            static_cast<long long>(point.size)));
    }
    last = &point;
  }
}

}  // namespace

void check_kernels(const Topology::Description& d, Defects& defects) {
  std::unordered_set<std::string> names;
  each_entry(defects, d.kernels.size(), [&](std::size_t i) {
    const KernelTimes& kernels = d.kernels[i];
    const Entry entry{TopologyDefect::Table::kernels, i, fmt::format("kernels '{}'", kernels.name)};
    entry.require_name(kernels.name);
    if (!names.insert(kernels.name).second) entry.fail("there are others of that name; expected unique names");
    entry.require_in(TopologyLimits::latency, kernels.launch, "launch");
    entry.require_in(TopologyLimits::multiprocessors, kernels.multiprocessors, "multiprocessors");
    entry.require_in(TopologyLimits::block, kernels.block_m, "block");
    entry.require_in(TopologyLimits::block, kernels.block_n, "block");
    entry.require_in(TopologyLimits::k_overhead, kernels.k_overhead, "k_overhead");
    entry.require_in(TopologyLimits::rate, kernels.memory_bandwidth, "memory_bandwidth");
    std::set<std::pair<DType, std::string>> curves;
    for (const GemmCurve& curve : kernels.gemm) {
      check_gemm_curve(entry, curve);
      entry.require(!curve.tiled || kernels.memory_bandwidth,
                    "a tiled gemm needs the memory bandwidth; expected memory_bandwidth");
      if (!curves.emplace(curve.dtype, curve.trans).second)
        entry.fail(
            fmt::format("there are two gemm curves for {} '{}'; expected one", to_string(curve.dtype), curve.trans));
    }
  });
}

}  // namespace tilerail
