#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "calibration/fit_parts.hpp"
#include "model/base/error.hpp"
#include "model/base/statistics.hpp"

namespace tilerail::fit {
namespace {

bool same_size(const KernelRun& a, const KernelRun& b) {
  return std::tie(a.m, a.n, a.k) == std::tie(b.m, b.n, b.k);
}

bool is_cube(const KernelRun& run, DType dtype) {
  return run.dtype == dtype && run.trans == "NN" && run.m == run.n && run.n == run.k;
}

void set_shapes(TiledGemm& tiled, const Runs& runs) {
  tiled.shapes.clear();
  for (const KernelRun* run : runs) {
    if (alignment_of(*run) < whole_columns) continue;
    const auto [m, n, k] = size_of(*run);
    tiled.shapes.push_back({m, n, k, Seconds{run->seconds.mean}});
    if (run->issue.count > 0) tiled.shapes.back().issue = Seconds{run->issue.mean};
  }
}

/// Scales the peak of a rule that was fitted to another pair of transposes: by the
/// geometric mean of predicted over measured times.
TiledGemm as_fast_as(TiledGemm rule, const Runs& runs, const TiledGemm::Device& device) {
  constexpr long long large =
      1024;  // the least side of shapes with a rate that depends on the peak
  Mean logarithm;
  for (const KernelRun* run : runs)
    if (std::min({run->m, run->n, run->k}) >= large)
      logarithm.add(std::log(rule.uncorrected(size_of(*run), device).time.value /
                             run->seconds.mean));
  rule.peak *= std::exp(logarithm.value());
  return rule;
}

/// When a rested device begins to slow down under load: the kernel time rises above the
/// midpoint between the mean of the first `early` seconds and `factor` times the mean,
/// and stays there. The end of the series if the device never slows down.
double felt_after(const LoadSeries& series, double factor) {
  constexpr double early = 0.02;
  Mean fast;
  for (const LoadSeries::Point& point : series.points)
    if (point.at <= early) fast.add(point.seconds);
  if (fast.count == 0) return 0;
  const double middle = fast.value() * (1 + factor) / 2;
  const LoadSeries::Point* since = nullptr;  // the first point above the middle
  for (const LoadSeries::Point& point : series.points) {
    if (point.seconds < middle)
      since = nullptr;
    else if (!since)
      since = &point;
    if (since && point.at - since->at >= early) return since->at;
  }
  return series.points.back().at;
}

/// Onset of the slowdown under load.
struct FirstLoad {
  Seconds after{0}, fully_after{0};
  double part = 1;  // of the full slowdown
};

/// The device samples its power at intervals, so the onset varies between series: use the
/// mean. `part` compares the slowdown until the end of a series with `factor`, the
/// slowdown of a much longer load.
FirstLoad first_load(const Measurements& m, DType dtype, double factor) {
  FirstLoad first;
  Mean after;
  std::vector<double> rises;
  for (const LoadSeries& series : m.loads) {
    if (series.dtype != dtype || series.gpu != m.devices[0].name || series.points.empty())
      continue;
    const double felt = felt_after(series, factor);
    after.add(felt);
    first.fully_after = std::max(first.fully_after, Seconds{series.points.back().at});
    std::vector<double> before, since;
    for (const auto& [at, seconds] : series.points)
      (at <= felt ? before : since).push_back(seconds);
    if (!before.empty() && !since.empty())
      rises.push_back(median(since) / median(before) - 1);
  }
  first.after = Seconds{after.value()};
  if (!rises.empty() && factor > 1)
    first.part = std::clamp(median(rises) / (factor - 1), 0.0, 1.0);
  return first;
}

/// Keeps the first point of each side; points are sorted by side.
template <class Point>
void drop_repeated_sides(std::vector<Point>& points) {
  const auto same_side = [](const Point& a, const Point& b) { return a.side == b.side; };
  points.erase(std::unique(points.begin(), points.end(), same_side), points.end());
}

/// Marginal time of one of many concurrent kernels, relative to its time alone, by the
/// side of its result. Uses the runs with the most streams.
std::vector<TiledGemm::Fill> fills_of(const Measurements& m, DType dtype,
                                      const Runs& alone) {
  std::map<int64_t, const KernelRun*> together;  // by side
  for (const KernelRun& run : m.kernels)
    if (run.at_once > 1 && is_cube(run, dtype) && run.gpu == m.devices[0].name)
      if (const KernelRun*& most = together[run.m]; !most || run.at_once > most->at_once)
        most = &run;
  std::vector<TiledGemm::Fill> fills;
  for (const auto& [side, run] : together)
    for (const KernelRun* like : alone)
      if (same_size(*like, *run))
        fills.push_back(
            {double(side), std::min(1.0, run->seconds.mean / like->seconds.mean)});
  drop_repeated_sides(fills);
  return fills;
}

/// Time that a kernel saves in a graph instead of a stream, and its marginal time among
/// many kernels of a graph.
std::vector<TiledGemm::InGraph> in_graph_of(const Measurements& m, DType dtype,
                                            const Runs& alone) {
  std::vector<TiledGemm::InGraph> found;
  for (const KernelRun& run : m.graph_kernels)
    for (const KernelRun& many : m.graph_kernels) {
      if (!is_cube(run, dtype) || !is_cube(many, dtype) || !same_size(run, many))
        continue;
      if (run.at_once > 1 || many.at_once == 1) continue;
      for (const KernelRun* stream : alone)
        if (same_size(*stream, run))
          found.push_back(
              {double(run.m),
               Seconds{std::max(0.0, stream->seconds.mean - run.seconds.mean)},
               std::min(1.0, many.seconds.mean / run.seconds.mean)});
    }
  std::ranges::sort(found, {}, &TiledGemm::InGraph::side);
  drop_repeated_sides(found);
  return found;
}

/// By the key of the runs: the mean time relative to the time of the same size alone.
template <class Key>
std::map<double, Mean> slowdowns(const Runs& runs, const Runs& alone,
                                 Key KernelRun::*key) {
  std::map<double, Mean> means;
  for (const KernelRun* run : runs)
    for (const KernelRun* like : alone)
      if (same_size(*like, *run))
        means[run->*key].add(run->seconds.mean / like->seconds.mean);
  return means;
}

/// Times under load relative to times with power to spare; monotone in the load.
std::vector<GemmCurve::Load> load_factors(const Runs& alone, const Runs& loaded) {
  std::vector<GemmCurve::Load> factors;
  double most = 1;
  for (const auto& [duty, slowdown] : slowdowns(loaded, alone, &KernelRun::duty)) {
    most = std::max(most, slowdown.value());
    factors.push_back({duty, most});
  }
  if (most <= 1.005) factors.clear();
  return factors;
}

/// The watts W of a device that is always busy with kernels and has no power limit: least
/// squares of idle + d (W - idle) over the loads d without throttling, or over all loads
/// if all were throttled. Absent if nothing was measured or no kernel drew more than the
/// idle watts.
std::optional<Watts> kernel_watts(const Runs& loaded, const DeviceRecord& device) {
  constexpr double free = 0.9;  // of the power limit: no throttling below
  const auto slope = [&](double most) {
    std::vector<double> duties, rises;
    for (const KernelRun* run : loaded)
      if (run->watts_seconds > 0 && run->watts <= most)
        duties.push_back(run->duty), rises.push_back(run->watts - device.idle_watts);
    return least_squares_factor(duties, rises);
  };
  double rise = slope(free * device.limit_watts);
  if (rise <= 0) rise = slope(INFINITY);
  if (device.idle_watts <= 0 || rise <= 0) return std::nullopt;
  return Watts{device.idle_watts + rise};
}

/// Times on unaligned columns relative to times on aligned columns; never rising with the
/// alignment.
std::vector<GemmCurve::Alignment> alignment_factors(const Runs& alone,
                                                    const Runs& unaligned) {
  std::vector<GemmCurve::Alignment> factors;
  for (const auto& [bytes, slowdown] : slowdowns(unaligned, alone, &KernelRun::alignment))
    factors.push_back({bytes, std::max(1.0, slowdown.value())});
  for (size_t i = factors.size(); i-- > 1;)
    factors[i - 1].factor = std::max(factors[i - 1].factor, factors[i].factor);
  while (!factors.empty() && factors.back().factor < 1.005) factors.pop_back();
  return factors;
}

std::string kernel_name(const std::string& model) {
  std::string name;
  for (const char c : model)
    name += std::isalnum(static_cast<unsigned char>(c)) ? char(std::tolower(c)) : '-';
  return name.empty() ? "gpu" : name;
}

struct KernelRuns {
  Runs alone, loaded, unaligned;
};

/// Runs of a type and a pair of transposes: single kernels with aligned columns on the
/// first device, and runs with unaligned columns.
KernelRuns runs_of(const Measurements& m, DType dtype, std::string_view trans) {
  KernelRuns runs;
  for (const KernelRun& run : m.kernels) {
    if (run.dtype != dtype || run.trans != trans) continue;
    if (run.alignment > 0)
      runs.unaligned.push_back(&run);
    else if (run.at_once == 1 && run.gpu == m.devices[0].name)
      (run.duty < rested ? runs.alone : runs.loaded).push_back(&run);
  }
  return runs;
}

/// The part of a curve that all transposes of a dtype share, from the first measured
/// transpose.
GemmCurve common_curve(const Measurements& m, DType dtype, const KernelRuns& runs,
                       const KernelTimes& kernels) {
  GemmCurve curve;
  curve.dtype = dtype;
  curve.source = "kernels";
  curve.tiled = fit_rule(runs.alone, kernels.tiled_device(dtype));
  curve.tiled->fills = fills_of(m, dtype, runs.alone);
  curve.tiled->in_graph = in_graph_of(m, dtype, runs.alone);
  curve.sustained = load_factors(runs.alone, runs.loaded);
  const FirstLoad load = curve.sustained.empty()
                             ? FirstLoad{}
                             : first_load(m, dtype, curve.sustained.back().factor);
  curve.sustained_after = load.after;
  curve.sustained_at_first = load.part;
  curve.sustained_fully_after = load.fully_after;
  curve.alignment = alignment_factors(runs.alone, runs.unaligned);
  curve.watts = kernel_watts(runs.loaded, m.devices[0]);
  return curve;
}

/// One curve for each measured transpose. The first also applies to transposes without a
/// curve.
void add_curves(const Measurements& m, DType dtype, KernelTimes& kernels) {
  std::optional<GemmCurve> common;
  for (const char* trans : {"NN", "NT", "TN", "TT"}) {
    const KernelRuns runs = runs_of(m, dtype, trans);
    if (runs.alone.empty()) continue;
    const bool is_first = !common;
    if (is_first) {
      common = common_curve(m, dtype, runs, kernels);
      kernels.launch = std::min(kernels.launch, common->tiled->launch);
      if (kernels.gemm.empty()) kernels.k_overhead = common->tiled->fill;
    }
    GemmCurve curve = *common;
    if (!is_first) {
      curve.trans = trans;
      curve.tiled = as_fast_as(*common->tiled, runs.alone, kernels.tiled_device(dtype));
    }
    set_shapes(*curve.tiled, runs.alone);
    kernels.gemm.push_back(std::move(curve));
  }
}

}  // namespace

int64_t alignment_of(const KernelRun& run) {
  if (run.alignment > 0) return run.alignment;
  const int64_t bytes =
      (run.trans.starts_with('N') ? run.m : run.k) * element_size(run.dtype);
  return bytes & -bytes;
}

Trans trans_of(const KernelRun& run, size_t operand) {
  return run.trans[operand] == 'T' ? Trans::yes : Trans::no;
}

Seconds gemm_time(const KernelTimes& kernels, const KernelRun& run) {
  return kernels.gemm_time(run.m, run.n, run.k, run.dtype, trans_of(run, 0),
                           trans_of(run, 1));
}

KernelTimes fit_kernels(const Measurements& m) {
  if (m.memory.empty())
    throw fault_of("measurements", "no memory rate", "a run under 'memory'");
  KernelTimes kernels;
  kernels.name = kernel_name(m.devices[0].model);
  kernels.source = "kernels";
  kernels.multiprocessors = m.devices[0].multiprocessors;
  kernels.memory_bandwidth = Rate{m.memory[0].rate.mean};
  kernels.launch = Seconds{1};
  for (const DType dtype : {DType::f64, DType::f32, DType::tf32, DType::f16, DType::bf16})
    add_curves(m, dtype, kernels);
  if (kernels.gemm.empty())
    throw fault_of("measurements", "no kernel times", "runs under 'kernels'");
  return kernels;
}

}  // namespace tilerail::fit
