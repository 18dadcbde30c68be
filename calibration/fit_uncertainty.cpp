// How far what the description says is from what was measured.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>

#include "calibration/fit_parts.hpp"
#include "calibration/fit_topology.hpp"

namespace tilerail::fit {
namespace {

constexpr double rested = 0.5;  // a device that is busy for less of the time has power to spare

/// Deviations of one class of times from what is said of them, relative to that.
class Deviations {
 public:
  /// How far another batch like those of the measurement would be: its mean from what is said, and the scatter of
  /// batches about it.
  void add(double said, const Measured& measured) {
    const double far = measured.mean / said;
    if (const double noise = scatter(measured, Uncertainty::level); std::isfinite(noise))
      sizes_.push_back(std::hypot(far - 1, noise * far));
  }
  /// The same of rates.
  void add_rate(double said, const Measured& measured) {
    add(1 / said, {1 / measured.mean, measured.half_width, measured.count});
  }
  double half_width() const {
    constexpr double most = 0.99;
    return sizes_.empty() ? 0 : std::min(covering(sizes_, Uncertainty::level), most);
  }

 private:
  std::vector<double> sizes_;
};

double said_of(const KernelTimes& kernels, const KernelRun& run) {
  const auto trans = [&](std::size_t i) { return run.trans[i] == 'T' ? Trans::yes : Trans::no; };
  return kernels.gemm_time(run.m, run.n, run.k, run.dtype, trans(0), trans(1)).value *
         kernels.alignment_factor(run.dtype, trans(0), trans(1), run.alignment > 0 ? run.alignment : 4096);
}

/// As if the shape of the run had not been measured.
double said_without(KernelTimes kernels, const KernelRun& run) {
  for (GemmCurve& curve : kernels.gemm)
    if (curve.dtype == run.dtype && curve.tiled)
      std::erase_if(curve.tiled->shapes, [&](const TiledGemm::Shape& shape) {
        return shape.m == static_cast<double>(run.m) && shape.n == static_cast<double>(run.n) &&
               shape.k == static_cast<double>(run.k);
      });
  return said_of(kernels, run);
}

Uncertainty::Kernels of_kernels(const Measurements& m, const KernelTimes& kernels, DType dtype) {
  Deviations measured, others;
  for (const KernelRun& run : m.kernels)
    if (run.dtype == dtype && run.at_once == 1 && run.duty < rested) {
      measured.add(said_of(kernels, run), run.seconds);
      if (run.alignment == 0) others.add(said_without(kernels, run), run.seconds);
    }
  return {dtype, measured.half_width(), std::max(measured.half_width(), others.half_width())};
}

/// Of the types that load slows down.
double of_load(const Measurements& m, const KernelTimes& kernels) {
  Deviations deviations;
  for (const KernelRun& run : m.kernels)
    if (const double factor = kernels.load_factor(run.dtype, Trans::no, Trans::no, run.duty);
        run.at_once == 1 && run.duty >= rested && factor > 1)
      deviations.add(said_of(kernels, run) * factor, run.seconds);
  return deviations.half_width();
}

/// Of the two directions between the host and a device, one curve says the same.
double of_columns(const Measurements& m, const StridedEfficiency& strided) {
  Deviations deviations;
  for (const StridedRun& run : m.strided) {
    const bool between_devices = run.src != "host" && run.dst != "host";
    const bool again = run.between_bytes == 0;
    if (!again && !between_devices && run.between_bytes < fills_any_cache) continue;
    const double said = strided.of(
        {Bytes{run.column_bytes}, Bytes{run.pitch_bytes}, between_devices, run.dst == "host", again ? 1.0 : 0.0});
    const double noise = std::hypot(run.strided.half_width, run.packed.half_width);
    deviations.add_rate(said, {run.strided.mean / run.packed.mean, noise, run.strided.count});
  }
  return deviations.half_width();
}

double of_issue(const Measurements& m, const IssueCost& issue) {
  Deviations deviations;
  for (const IssueRun& run : m.issue) {
    if (run.what == "gemm" && issue.per_kernel) deviations.add(issue.per_kernel->value, run.seconds);
    if (run.what == "record and wait") deviations.add(issue.per_dependency.value, run.seconds);
  }
  for (const LatencyRun& run : m.latencies) deviations.add(issue.per_op.value, run.issued);
  return deviations.half_width();
}

}  // namespace

Uncertainty uncertainty_of(const Measurements& m, HostPages pages, const Topology& machine) {
  const Topology::Description& d = machine.description();
  Uncertainty u;
  std::set<DType> types;
  for (const GemmCurve& curve : d.kernels[0].gemm)
    if (types.insert(curve.dtype).second) u.kernels.push_back(of_kernels(m, d.kernels[0], curve.dtype));
  u.load = of_load(m, d.kernels[0]);
  Deviations copies;
  for (const Residual& residual : transfer_residuals(m, pages, machine))
    copies.add_rate(residual.fitted, residual.measured);
  u.copies = copies.half_width();
  u.columns = of_columns(m, d.strided);
  u.issue = of_issue(m, d.issue);
  u.source = "uncertainty";
  return u;
}

}  // namespace tilerail::fit
