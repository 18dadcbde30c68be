#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "calibration/fit_parts.hpp"
#include "model/base/error.hpp"
#include "model/base/statistics.hpp"

namespace tilerail::fit {
namespace {

void set_shapes(TiledGemm& tiled, const std::vector<const KernelRun*>& runs) {
  tiled.shapes.clear();
  for (const KernelRun* run : runs) {
    if (alignment_of(*run) < whole_columns) continue;
    tiled.shapes.push_back({double(run->m), double(run->n), double(run->k), Seconds{run->seconds.mean}});
    if (run->issue.count > 0) tiled.shapes.back().issue = Seconds{run->issue.mean};
  }
}

/// The rule of another pair of transposes as far as it is faster or slower as a whole: the peak by the mean of what the
/// rule says over what was measured.
TiledGemm as_fast_as(TiledGemm rule, const std::vector<const KernelRun*>& runs, double multiprocessors, Rate memory) {
  constexpr double large = 1024;  // the least side of shapes whose rate depends on the peak
  double sum = 0;
  int count = 0;
  for (const KernelRun* run : runs) {
    const auto m = double(run->m), n = double(run->n), k = double(run->k);
    if (std::min({m, n, k}) < large) continue;
    const auto element = double(element_size(run->dtype));
    sum += std::log(rule.uncorrected(m, n, k, multiprocessors, element, memory).time.value / run->seconds.mean);
    ++count;
  }
  if (count > 0) rule.peak = rule.peak * std::exp(sum / count);
  return rule;
}

/// When a device that rested begins to feel its load: the kernels' time passes the middle between that of the first
/// `early` seconds and `factor` times that, and stays above for as long. Where it never does, the end of the series.
double felt_after(const LoadSeries& series, double factor) {
  constexpr double early = 0.02;
  double fast = 0;
  int count = 0;
  for (const LoadSeries::Point& point : series.points)
    if (point.at <= early) fast += point.seconds, ++count;
  if (count == 0) return 0;
  const double middle = fast / count * (1 + factor) / 2;
  const LoadSeries::Point* since = nullptr;  // the first of those above the middle
  for (const LoadSeries::Point& point : series.points) {
    if (point.seconds < middle)
      since = nullptr;
    else if (!since)
      since = &point;
    if (since && point.at - since->at >= early) return since->at;
  }
  return series.points.back().at;
}

/// How load is felt at first.
struct FirstLoad {
  Seconds after{0}, fully_after{0};
  double part = 1;  // of the rise
};

/// The device looks at its power now and then, so that one series feels the load later than another: their mean counts.
/// What kernels take from there to the end of a series, over what they took before, is the factor at first; `factor` is
/// that of much longer.
FirstLoad first_load(const Measurements& m, DType dtype, double factor) {
  FirstLoad first;
  std::vector<double> after, rises;
  for (const LoadSeries& series : m.loads) {
    if (series.dtype != dtype || series.gpu != m.devices[0].name || series.points.empty()) continue;
    after.push_back(felt_after(series, factor));
    first.fully_after = std::max(first.fully_after, Seconds{series.points.back().at});
    std::vector<double> before, since;
    for (const LoadSeries::Point& point : series.points)
      (point.at <= after.back() ? before : since).push_back(point.seconds);
    if (!before.empty() && !since.empty()) rises.push_back(median(since) / median(before) - 1);
  }
  if (after.empty()) return first;
  first.after = Seconds{std::accumulate(after.begin(), after.end(), 0.0) / double(after.size())};
  if (!rises.empty() && factor > 1) first.part = std::clamp(median(rises) / (factor - 1), 0.0, 1.0);
  return first;
}

/// Keeps the first point of each side; points are sorted by side.
template <class Point>
void drop_repeated_sides(std::vector<Point>& points) {
  const auto same_side = [](const Point& a, const Point& b) { return a.side == b.side; };
  points.erase(std::unique(points.begin(), points.end(), same_side), points.end());
}

/// What a kernel adds to the time of many side by side, in as many streams as were measured at most, over its time
/// alone; by the side of its result.
std::vector<TiledGemm::Fill> fills_of(const Measurements& m, DType dtype, const std::vector<const KernelRun*>& alone) {
  std::map<int64_t, std::pair<int, double>> together;  // by side: streams, and the time of a kernel
  for (const KernelRun& run : m.kernels)
    if (run.dtype == dtype && run.trans == "NN" && run.at_once > 1 && run.m == run.n && run.n == run.k &&
        run.gpu == m.devices[0].name)
      if (auto& [streams, seconds] = together[run.m]; run.at_once > streams)
        streams = run.at_once, seconds = run.seconds.mean;
  std::vector<TiledGemm::Fill> fills;
  for (const auto& [side, run] : together)
    for (const KernelRun* like : alone)
      if (like->m == side && like->n == side && like->k == side)
        fills.push_back({double(side), std::min(1.0, run.second / like->seconds.mean)});
  drop_repeated_sides(fills);
  return fills;
}

/// By how much kernels of a graph are shorter than in a stream, and what they add to the time of many there.
std::vector<TiledGemm::InGraph> in_graph_of(const Measurements& m, DType dtype,
                                            const std::vector<const KernelRun*>& alone) {
  const auto is_cube = [&](const KernelRun& run, int64_t side) {
    return run.dtype == dtype && run.trans == "NN" && run.m == side && run.n == side && run.k == side;
  };
  std::vector<TiledGemm::InGraph> found;
  for (const KernelRun& run : m.graph_kernels)
    for (const KernelRun& many : m.graph_kernels)
      for (const KernelRun* stream : alone)
        if (is_cube(run, run.m) && run.at_once == 1 && is_cube(many, run.m) && many.at_once > 1 &&
            is_cube(*stream, run.m))
          found.push_back({double(run.m), Seconds{std::max(0.0, stream->seconds.mean - run.seconds.mean)},
                           std::min(1.0, many.seconds.mean / run.seconds.mean)});
  std::ranges::sort(found, {}, &TiledGemm::InGraph::side);
  drop_repeated_sides(found);
  return found;
}

/// Times under load over times with power to spare; they never fall with the load.
std::vector<GemmCurve::Load> load_factors(const std::vector<const KernelRun*>& alone,
                                          const std::vector<const KernelRun*>& loaded) {
  std::map<double, std::pair<double, int>> sums;
  for (const KernelRun* run : loaded)
    for (const KernelRun* like : alone)
      if (like->m == run->m && like->n == run->n && like->k == run->k) {
        auto& [sum, count] = sums[run->duty];
        sum += run->seconds.mean / like->seconds.mean, ++count;
      }
  std::vector<GemmCurve::Load> factors;
  double most = 1;
  for (const auto& [duty, sum] : sums) {
    most = std::max(most, sum.first / sum.second);
    factors.push_back({duty, most});
  }
  const bool any = most > 1.005;
  return any ? factors : std::vector<GemmCurve::Load>{};
}

/// The watts W that a device would draw if kernels filled it all the time and nothing limited it: least squares of
/// idle + d (W - idle) over the loads d at which the limit did not hold the device back; over all loads where it always
/// did. Absent where nothing was measured, or no kernel drew more than an idle device.
std::optional<Watts> kernel_watts(const std::vector<const KernelRun*>& loaded, const DeviceRecord& device) {
  constexpr double free = 0.9;  // of the limit: below, nothing is held back
  const auto slope = [&](double most) {
    std::vector<double> duties, rises;
    for (const KernelRun* run : loaded)
      if (run->watts_seconds > 0 && run->watts <= most)
        duties.push_back(run->duty), rises.push_back(run->watts - device.idle_watts);
    return least_squares_factor(duties, rises);
  };
  constexpr double none = std::numeric_limits<double>::infinity();
  const double unheld = device.limit_watts > 0 ? slope(free * device.limit_watts) : slope(none);
  const double rise = unheld > 0 ? unheld : slope(none);
  if (device.idle_watts <= 0 || rise <= 0) return std::nullopt;
  return Watts{device.idle_watts + rise};
}

/// Times on unaligned columns over times on aligned ones; they never rise with the alignment.
std::vector<GemmCurve::Alignment> alignment_factors(const Measurements& m, DType dtype,
                                                    const std::vector<const KernelRun*>& alone) {
  std::map<int, std::pair<double, int>> sums;
  for (const KernelRun& run : m.kernels)
    for (const KernelRun* like : alone)
      if (run.alignment > 0 && run.dtype == dtype && run.trans == like->trans && run.m == like->m && run.n == like->n &&
          run.k == like->k) {
        auto& [sum, count] = sums[run.alignment];
        sum += run.seconds.mean / like->seconds.mean, ++count;
      }
  std::vector<GemmCurve::Alignment> factors;
  for (const auto& [bytes, sum] : sums) factors.push_back({double(bytes), std::max(1.0, sum.first / sum.second)});
  for (size_t i = factors.size(); i-- > 1;) factors[i - 1].factor = std::max(factors[i - 1].factor, factors[i].factor);
  while (!factors.empty() && factors.back().factor < 1.005) factors.pop_back();
  return factors;
}

std::string kernel_name(const std::string& model) {
  std::string name;
  for (const char c : model) name += std::isalnum(static_cast<unsigned char>(c)) ? char(std::tolower(c)) : '-';
  return name.empty() ? "gpu" : name;
}

struct KernelRuns {
  std::vector<const KernelRun*> alone, loaded;
};

/// Runs of one kernel at a time with aligned columns on the first device.
KernelRuns runs_of(const Measurements& m, DType dtype, std::string_view trans) {
  KernelRuns runs;
  for (const KernelRun& run : m.kernels) {
    const bool is_plain = run.at_once == 1 && run.alignment == 0 && run.gpu == m.devices[0].name;
    if (!is_plain || run.dtype != dtype || run.trans != trans) continue;
    (run.duty < rested ? runs.alone : runs.loaded).push_back(&run);
  }
  return runs;
}

/// The part of a curve that all transposes of a dtype share, from the first measured transpose.
GemmCurve common_curve(const Measurements& m, DType dtype, const KernelRuns& runs, const KernelTimes& kernels) {
  GemmCurve curve;
  curve.dtype = dtype;
  curve.source = "kernels";
  curve.tiled = fit_rule(runs.alone, kernels.multiprocessors, *kernels.memory_bandwidth);
  curve.tiled->fills = fills_of(m, dtype, runs.alone);
  curve.tiled->in_graph = in_graph_of(m, dtype, runs.alone);
  curve.sustained = load_factors(runs.alone, runs.loaded);
  const FirstLoad load = curve.sustained.empty() ? FirstLoad{} : first_load(m, dtype, curve.sustained.back().factor);
  curve.sustained_after = load.after;
  curve.sustained_at_first = load.part;
  curve.sustained_fully_after = load.fully_after;
  curve.alignment = alignment_factors(m, dtype, runs.alone);
  curve.watts = kernel_watts(runs.loaded, m.devices[0]);
  return curve;
}

/// One curve for each measured transpose. The first also applies to transposes without a curve.
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
      curve.tiled = as_fast_as(*common->tiled, runs.alone, kernels.multiprocessors, *kernels.memory_bandwidth);
    }
    set_shapes(*curve.tiled, runs.alone);
    kernels.gemm.push_back(std::move(curve));
  }
}

}  // namespace

int64_t alignment_of(const KernelRun& run) {
  if (run.alignment > 0) return run.alignment;
  const int64_t bytes = (run.trans.starts_with('N') ? run.m : run.k) * element_size(run.dtype);
  return bytes & -bytes;
}

KernelTimes fit_kernels(const Measurements& m) {
  if (m.memory.empty()) throw fault_of("measurements", "no memory rate", "a run under 'memory'");
  KernelTimes kernels;
  kernels.name = kernel_name(m.devices[0].model);
  kernels.source = "kernels";
  kernels.multiprocessors = m.devices[0].multiprocessors;
  kernels.memory_bandwidth = Rate{m.memory[0].rate.mean};
  kernels.launch = Seconds{1};
  for (const DType dtype : {DType::f64, DType::f32, DType::tf32, DType::f16, DType::bf16})
    add_curves(m, dtype, kernels);
  if (kernels.gemm.empty()) throw fault_of("measurements", "no kernel times", "runs under 'kernels'");
  return kernels;
}

}  // namespace tilerail::fit
