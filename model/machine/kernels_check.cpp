#include "model/machine/kernels_check.hpp"

#include <fmt/format.h>

#include <set>
#include <unordered_set>

#include "model/machine/table_entry.hpp"

namespace tilerail {
namespace {

double square_seconds(const GemmCurve::Point& p) { return 2 * p.size * p.size * p.size / p.rate.value; }

void check_tiled(const Entry& entry, const TiledGemm& tiled) {
  entry.require_not_negative(tiled.launch.value, "launch");
  entry.require_positive(tiled.peak.value, "peak");
  entry.require_not_negative(tiled.fill, "fill");
  entry.require_not_negative(tiled.reduction.value, "reduction");
  entry.require(!tiled.blocks.empty(), "a tiled gemm has no blocks; expected at least one");
  for (const auto& block : tiled.blocks) {
    entry.require_positive(block.rows, "a block");
    entry.require_positive(block.cols, "a block");
    entry.require_positive(block.efficiency, "the efficiency of a block");
  }
  for (const auto& shape : tiled.shapes) {
    entry.require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "a shape is below 1; expected sizes from 1");
    entry.require_positive(shape.time.value, "the time of a shape");
  }
}

/// Throws where a larger square takes less time: gemm_time could not ascend then.
void check_gemm_curve(const Entry& entry, const GemmCurve& curve) {
  static const std::set<std::string> pairs{"", "NN", "NT", "TN", "TT"};
  if (!pairs.count(curve.trans)) entry.fail("trans '" + curve.trans + "' is unknown; expected NN, NT, TN or TT");
  if (curve.watts) entry.require_positive(curve.watts->value, "the watts of a gemm");
  if (curve.tiled) return check_tiled(entry, *curve.tiled);
  entry.require(!curve.points.empty(), "a gemm curve has no points; expected at least one");
  entry.require(curve.points.size() <= TopologyLimits::points,
                "a gemm curve has too many points; expected at most 4096");
  const GemmCurve::Point* last = nullptr;
  for (const auto& point : curve.points) {
    entry.require_positive(point.size, "a gemm size");
    entry.require_positive(point.rate.value, "a gemm rate");
    entry.require(point.size < 1e9, "a gemm size is out of range; expected below 1e9");
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

void check_kernels(const Topology::Description& d) {
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < d.kernels.size(); ++i) {
    const KernelTimes& kernels = d.kernels[i];
    const Entry entry{TopologyDefect::Table::kernels, i, "kernels '" + kernels.name + "'"};
    entry.require_name(kernels.name);
    if (!names.insert(kernels.name).second) entry.fail("there are others of that name; expected unique names");
    entry.require_not_negative(kernels.launch.value, "launch");
    entry.require_positive(kernels.multiprocessors, "multiprocessors");
    entry.require_positive(kernels.block_m, "block");
    entry.require_positive(kernels.block_n, "block");
    entry.require_not_negative(kernels.k_overhead, "k_overhead");
    if (kernels.memory_bandwidth) entry.require_positive(kernels.memory_bandwidth->value, "memory_bandwidth");
    std::set<std::pair<DType, std::string>> curves;
    for (const GemmCurve& curve : kernels.gemm) {
      check_gemm_curve(entry, curve);
      entry.require(!curve.tiled || kernels.memory_bandwidth,
                    "a tiled gemm needs the memory bandwidth; expected memory_bandwidth");
      if (!curves.emplace(curve.dtype, curve.trans).second)
        entry.fail(
            fmt::format("there are two gemm curves for {} '{}'; expected one", to_string(curve.dtype), curve.trans));
    }
  }
}

}  // namespace tilerail
