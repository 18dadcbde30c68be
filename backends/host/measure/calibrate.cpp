#include "backends/host/measure/calibrate.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "backends/host/measure/calibration_runs.hpp"
#include "backends/host/measure/host_machine.hpp"
#include "calibration/mean.hpp"
#include "check/blas.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/threads.hpp"

namespace tilerail {
namespace {

using host::CalibrationRuns;
using host::CopyRole;
using host::now;

constexpr int64_t packed_columns = 64;  // 32 KiB per column: copies of 2 MiB
constexpr int64_t axpby_size = 512;     // tiles of 2 MiB
constexpr int64_t thin_size = 1024,
                  thin_share = 16;      // s, and s / k of a GEMM with a short k loop
constexpr double runs_in_budget = 400;  // 10 rounds of 40 figures
constexpr double element = 8;           // bytes: copies and axpby are measured in f64

/// Registers every figure, measures the figures in turns, then writes them into the
/// description.
class Calibration {
 public:
  Calibration(int devices, int workers, const HostCalibrationOptions& options)
      : options_{options},
        all_workers_{devices * workers},
        devices_{devices},
        d_{host_machine(devices, workers, options.cores)},
        runs_{devices, workers, options.budget_seconds / runs_in_budget} {}

  Topology::Description run();

 private:
  struct Copies {  // of one role
    CopyRole role;
    std::vector<size_t> figures;  // by number of simultaneous copies
  };
  struct StridedCopy {
    int64_t rows, cols;
    size_t figure;
  };
  struct Gemms {
    DType dtype;
    std::vector<std::pair<int64_t, size_t>> figures;  // by size
  };

  void add_copies();
  void add_gemms(DType dtype);
  void write_shape();
  void write_copies();
  void write_links(CopyRole role, double single, double saturated);
  void write_strided(double packed_rate);
  void write_kernels();
  void write_uncertainty();
  double k_overhead();

  double seconds(size_t figure) {
    const SampleMean estimate = runs_.of(figure);
    widest_ = std::max(widest_, estimate.half_width);
    return estimate.mean;
  }
  /// Bytes per second, without the latency of the operation.
  double rate(double elements, size_t figure) {
    const double each = seconds(figure);
    return element * elements / std::max(each - latency_, each / 2);
  }
  /// Appends the uncertainty of the figures to `text`.
  void add_measured(const std::string& key, const std::string& text) {
    d_.sources.push_back({key, Source::Kind::measured, text + width_text(widest_)});
    const std::string missed = missed_target(key, widest_);
    if (!missed.empty() && options_.warning) options_.warning(missed);
  }

  const HostCalibrationOptions& options_;
  int all_workers_, devices_;
  Topology::Description d_;
  CalibrationRuns runs_;
  size_t empty_ = 0, axpby_ = 0, thin_ = 0, square_ = 0;  // figures
  std::vector<int> at_once_;
  std::vector<Copies> copies_;
  std::vector<StridedCopy> strided_;
  std::vector<Gemms> gemms_;
  double latency_ = 0;
  double widest_ = 0;  // half width of the least certain figure of a source
};

Topology::Description Calibration::run() {
  const auto report = [this](std::string_view what) {
    if (options_.progress) options_.progress(what);
  };
  const std::function<double()> clock = options_.clock ? options_.clock : now;
  const double start = clock();
  report("warming up");
  add_copies();
  for (const DType dtype : {DType::f64, DType::f32}) add_gemms(dtype);
  const int64_t s = std::min(thin_size, options_.largest_gemm);
  thin_ = runs_.add_gemm(s, s / thin_share, DType::f64);
  square_ = runs_.add_gemm(s, s, DType::f64);
  report("measuring");
  runs_.measure(std::max(0.0, options_.budget_seconds - (clock() - start)), clock);
  d_.name = options_.name;
  d_.sources.clear();
  write_shape();
  write_copies();
  write_kernels();
  write_uncertainty();
  return d_;
}

void Calibration::add_copies() {
  empty_ = runs_.add_copy(CopyRole::h2d, 1, 1, all_workers_);
  axpby_ = runs_.add_axpby(axpby_size);
  for (int n = 1; n < all_workers_; n *= 2) at_once_.push_back(n);
  at_once_.push_back(all_workers_);
  for (const CopyRole role : {CopyRole::h2d, CopyRole::d2h, CopyRole::peer}) {
    if (role == CopyRole::peer && devices_ == 1) continue;
    copies_.push_back({role, {}});
    for (const int n : at_once_) {
      copies_.back().figures.push_back(
          runs_.add_copy(role, CalibrationRuns::matrix_rows, packed_columns, n));
    }
  }
  constexpr int64_t shapes[][2] = {
      {32, 2048}, {128, 2048}, {256, 1024}, {512, 512}, {2048, 128}};
  for (const auto& [rows, cols] : shapes) {
    strided_.push_back({rows, cols, runs_.add_copy(CopyRole::h2d, rows, cols, 1)});
  }
}

/// Doubles the size as long as one measurement takes a small part of the budget.
void Calibration::add_gemms(DType dtype) {
  gemms_.push_back({dtype, {}});
  double last = 0;
  for (int64_t s = 64; s <= options_.largest_gemm; s *= 2) {
    constexpr double growth = 8, most = 0.05;
    if (s > 256 && growth * last > most * options_.budget_seconds) break;
    gemms_.back().figures.emplace_back(s, runs_.add_gemm(s, s, dtype));
    last = runs_.of(gemms_.back().figures.back().second).mean;
  }
}

/// As many devices as in the options. Matrices get half of the memory; the devices share
/// the other half.
void Calibration::write_shape() {
  d_.sources.push_back({"shape", Source::Kind::assumed,
                        fmt::format("devices and workers as chosen for {} CPUs; each "
                                    "device may use an equal share of half of the memory",
                                    usable_cores().size())});
  const double ram = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  constexpr double mebibyte = 1 << 20;
  d_.issue.source = "shape";
  for (Vertex& vertex : d_.vertices) vertex.source = "shape";
  for (Memory& memory : d_.memories) {
    memory.source = "shape";
    if (memory.kind == VertexKind::gpu) {
      memory.capacity =
          Bytes{std::max(1.0, std::floor(ram / 2 / devices_ / mebibyte)) * mebibyte};
    }
  }
}

/// One copy takes latency + bytes / rate. The group's bound for n copies is the rate of n
/// copies of the fastest role: all roles share one RAM.
void Calibration::write_copies() {
  latency_ = seconds(empty_);
  CapacityCurve curve;
  for (const int n : at_once_) curve.points.push_back({double(n), Rate{0}});
  for (const Copies& copies : copies_) {
    double single = 0, saturated = 0;
    for (const auto i : indices(at_once_)) {
      const double together =
          at_once_[i] *
          rate(double(CalibrationRuns::matrix_rows * packed_columns), copies.figures[i]);
      if (i == 0) single = together;
      saturated = std::max(saturated, together);
      curve.points[i].rate = std::max(curve.points[i].rate, Rate{together});
    }
    write_links(copies.role, single, saturated);
    if (copies.role == CopyRole::h2d) write_strided(single);
  }
  d_.groups[0].capacity = curve;
  d_.groups[0].source = "copies";
  add_measured(
      "copies",
      fmt::format("memcpy of 2 MiB between matrices and tiles, 1 to {} simultaneously; "
                  "empty operations for the latency; 95 % intervals of the means within ",
                  all_workers_));
}

/// `single` is the rate of one copy alone, `saturated` the largest total rate of the
/// role's copies.
void Calibration::write_links(CopyRole role, double single, double saturated) {
  for (Link& link : d_.links) {
    const bool from_host = d_.vertices[link.from.index()].kind == VertexKind::host;
    const bool to_host = d_.vertices[link.to.index()].kind == VertexKind::host;
    if ((role == CopyRole::h2d) != from_host || (role == CopyRole::d2h) != to_host)
      continue;
    link.per_flow = Rate{single};
    link.bandwidth = Rate{saturated};
    link.latency = Seconds{latency_};
    link.source = "copies";
  }
}

/// Efficiency of a 2-D copy: its rate relative to the rate of a packed copy, both alone.
void Calibration::write_strided(double packed_rate) {
  d_.strided.source = "copies";
  for (const StridedCopy& s : strided_) {
    const double efficiency = rate(double(s.rows * s.cols), s.figure) / packed_rate;
    d_.strided.points.push_back(
        {Bytes{element * double(s.rows)}, std::min(1.0, efficiency)});
  }
  d_.strided.points.push_back({Bytes{element * CalibrationRuns::matrix_rows}, 1.0});
}

/// From t(s, s, k) / t(s, s, s) = (k + k0) / (s + k0), the rule of
/// docs/model.md#kernel-times:
///   k0 = (s t_k - k t_s) / (t_s - t_k).
double Calibration::k_overhead() {
  const double s = double(std::min(thin_size, options_.largest_gemm)), k = s / thin_share;
  const double thin = seconds(thin_), square = seconds(square_);
  return square > thin ? std::clamp((s * thin - k * square) / (square - thin), 0.0, s)
                       : 0.0;
}

void Calibration::write_kernels() {
  KernelTimes& kernels = d_.kernels[0];
  kernels.source = "kernels";
  kernels.gemm.clear();
  widest_ = 0;
  constexpr double reads_and_writes = 3;
  kernels.memory_bandwidth =
      Rate{reads_and_writes * element * axpby_size * axpby_size / seconds(axpby_)};
  kernels.k_overhead = k_overhead();
  for (const Gemms& gemms : gemms_) {
    GemmCurve curve;
    curve.dtype = gemms.dtype;
    curve.source = "kernels";
    double least = 0;  // times must not fall with the size; noise is evened out
    for (const auto& [s, figure] : gemms.figures) {
      const double size = double(s);
      least = std::max(least, seconds(figure));
      curve.points.push_back({size, FlopRate{2 * size * size * size / least}});
    }
    kernels.gemm.push_back(curve);
  }
  if (d_.kernels.size() > 1) {  // cores run the same kernels
    KernelTimes cores = kernels;
    cores.name = d_.kernels[1].name,
    cores.multiprocessors = d_.kernels[1].multiprocessors;
    d_.kernels[1] = cores;
  }
  add_measured(
      "kernels",
      fmt::format("{} on one thread a kernel, {} simultaneous kernels on {} CPUs; 95 % "
                  "intervals of the means within ",
                  host::blas_name(), all_workers_, usable_cores().size()));
}

/// The uncertainty of copies is the deviation of each role and number of copies from the
/// rates of links and groups. Figures with one measurement have no interval.
void Calibration::write_uncertainty() {
  Uncertainty u;
  for (const auto i : indices(gemms_)) {
    Deviations kernels;
    for (const auto at : indices(gemms_[i].figures)) {
      const auto& [size, rate] = d_.kernels[0].gemm[i].points[at];
      kernels.add((Flops{2 * size * size * size} / rate).value,
                  runs_.of(gemms_[i].figures[at].second));
    }
    if (!kernels.empty())
      u.kernels.push_back({gemms_[i].dtype, kernels.half_width(), kernels.half_width()});
  }
  Deviations copies, columns;
  const double bytes = element * double(CalibrationRuns::matrix_rows * packed_columns);
  for (const Copies& role : copies_) {
    const double single = rate(bytes / element, role.figures.front());
    for (const auto i : indices(at_once_)) {
      const double together =
          std::min(at_once_[i] * single, d_.groups[0].capacity->at(at_once_[i]).value);
      copies.add(latency_ + at_once_[i] * bytes / together, runs_.of(role.figures[i]));
    }
  }
  for (const StridedCopy& s : strided_)
    columns.add(runs_.of(s.figure).mean, runs_.of(s.figure));
  if (u.kernels.empty() || copies.empty()) return;
  u.copies = copies.half_width(), u.columns = columns.half_width(),
  u.source = "uncertainty";
  d_.uncertainty = u;
  d_.sources.push_back({"uncertainty", Source::Kind::measured, uncertainty_text});
}

}  // namespace

Topology::Description calibrate_host(const HostCalibrationOptions& options) {
  if (!(options.budget_seconds >= 0 && options.budget_seconds <= 3600)) {
    throw out_of_range("budget", fmt::format("{} s", options.budget_seconds),
                       "0 to 3600 s");
  }
  if (options.largest_gemm < 64 || options.largest_gemm > 2048) {
    throw out_of_range("largest GEMM", std::to_string(options.largest_gemm),
                       "64 to 2048");
  }
  const int cores = int(usable_cores().size());
  const int devices = options.devices != 0 ? options.devices : std::min(2, cores);
  const int workers =
      options.workers != 0 ? options.workers : std::max(1, cores / std::max(1, devices));
  return Calibration{devices, workers, options}.run();
}

}  // namespace tilerail
