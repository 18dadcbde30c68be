// Errors of the fitted description relative to its measurements.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "calibration/fit_parts.hpp"
#include "calibration/fit_topology.hpp"
#include "calibration/mean.hpp"

namespace tilerail::fit {
namespace {

double said_of(const KernelTimes& kernels, const KernelRun& run) {
  const auto alignment = double(alignment_of(run));
  return gemm_time(kernels, run).value *
         kernels.alignment_factor(run.dtype, trans_of(run, 0), trans_of(run, 1),
                                  alignment);
}

/// The prediction without the measured shape of the run (leave-one-out).
double said_without(KernelTimes kernels, const KernelRun& run) {
  for (GemmCurve& curve : kernels.gemm)
    if (curve.dtype == run.dtype && curve.tiled)
      std::erase_if(curve.tiled->shapes,
                    [size = size_of(run)](const TiledGemm::Shape& shape) {
                      return shape.m == size.m && shape.n == size.n && shape.k == size.k;
                    });
  return said_of(kernels, run);
}

std::optional<Uncertainty::Kernels> of_kernels(const Measurements& m,
                                               const KernelTimes& kernels, DType dtype) {
  Deviations measured, others;
  for (const KernelRun& run : m.kernels)
    if (run.dtype == dtype && run.at_once == 1 && run.duty < rested) {
      if (run.alignment > 0 || alignment_of(run) >= whole_columns)
        measured.add(said_of(kernels, run), run.seconds);
      if (run.alignment == 0) others.add(said_without(kernels, run), run.seconds);
    }
  if (measured.empty()) return std::nullopt;
  return Uncertainty::Kernels{dtype, measured.half_width(),
                              std::max(measured.half_width(), others.half_width())};
}

/// Deviations under load, for the types that load slows down.
double of_load(const Measurements& m, const KernelTimes& kernels) {
  Deviations deviations;
  for (const KernelRun& run : m.kernels)
    if (const double factor =
            kernels.curve(run.dtype, Trans::no, Trans::no).load_factor(run.duty);
        run.at_once == 1 && run.duty >= rested && factor > 1)
      deviations.add(said_of(kernels, run) * factor, run.seconds);
  return deviations.half_width();
}

using Points = std::vector<StridedEfficiency::Point>;

/// Removes this column of this pitch if it is inside the measured columns and pitches
/// (leave-one-out), because plans use unmeasured columns and pitches.
void forget(Points& points, Bytes column, Bytes pitch) {
  const auto any = [&](const auto& condition) {
    return std::ranges::any_of(points, condition);
  };
  const auto of_pitch = [&](const auto& p) { return p.pitch == pitch; };
  const bool inside =
      any([&](const auto& p) { return of_pitch(p) && p.column < column; }) &&
      any([&](const auto& p) { return of_pitch(p) && p.column > column; }) &&
      any([&](const auto& p) { return p.pitch < pitch; }) &&
      any([&](const auto& p) { return p.pitch > pitch; });
  if (inside)
    std::erase_if(points,
                  [&](const auto& p) { return of_pitch(p) && p.column == column; });
}

/// One curve describes both directions between the host and a device. Columns and pitches
/// of plans lie between measured ones, at most half as far from a measured one as a
/// removed point from its neighbours, so linear interpolation errs at most half as much:
/// compare with the geometric mean of the predictions with and without the point.
double of_columns(const Measurements& m, const StridedEfficiency& fitted) {
  Deviations deviations;
  for (const StridedRun& run : m.strided) {
    const bool between_devices = run.src != "host" && run.dst != "host";
    const bool again = run.between_bytes == 0;
    if (!again && !between_devices && run.between_bytes < fills_any_cache)
      continue;  // interpolated between both curves
    const Bytes column{run.column_bytes}, pitch{run.pitch_bytes};
    StridedEfficiency::Copy copy{column, pitch, between_devices, run.dst == "host",
                                 again ? 1.0 : 0.0};
    if (!run.beside) copy.interference = {0, 0};  // measured alone
    StridedEfficiency others = fitted;
    for (Points* points : {&others.points, &others.again, &others.peer})
      forget(*points, column, pitch);
    const double said = std::sqrt(fitted.of(copy) * others.of(copy));
    const double noise = std::hypot(run.strided.half_width, run.packed.half_width);
    deviations.add_rate(said,
                        {run.strided.mean / run.packed.mean, noise, run.strided.count});
  }
  return deviations.half_width();
}

double of_issue(const Measurements& m, const IssueCost& issue) {
  Deviations deviations;
  for (const IssueRun& run : m.issue) {
    if (run.what == "gemm" && issue.per_kernel)
      deviations.add(issue.per_kernel->value, run.seconds);
    if (run.what == "record and wait")
      deviations.add(issue.per_dependency.value, run.seconds);
  }
  for (const LatencyRun& run : m.latencies)
    deviations.add(issue.per_op.value, run.issued);
  return deviations.half_width();
}

}  // namespace

std::optional<Uncertainty> uncertainty_of(const Measurements& m, HostPages pages,
                                          const Topology& machine) {
  const Topology::Description& d = machine.description();
  Uncertainty u;
  for (const DType dtype : dtypes)
    if (d.kernels[0].has_times(dtype, Trans::no, Trans::no))
      if (const auto kernels = of_kernels(m, d.kernels[0], dtype))
        u.kernels.push_back(*kernels);
  Deviations copies;
  for (const Residual& residual : transfer_residuals(m, pages, machine))
    copies.add_rate(residual.fitted, residual.measured);
  if (u.kernels.empty() || copies.empty()) return std::nullopt;
  u.copies = copies.half_width();
  u.load = of_load(m, d.kernels[0]);
  u.columns = of_columns(m, d.strided);
  u.issue = of_issue(m, d.issue);
  u.source = "uncertainty";
  return u;
}

}  // namespace tilerail::fit
