#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "calibration/fit_parts.hpp"
#include "model/base/error.hpp"
#include "model/base/statistics.hpp"

namespace tilerail::fit {
namespace {

void set_shapes(TiledGemm& tiled, const std::vector<const KernelRun*>& runs) {
  tiled.shapes.clear();
  for (const KernelRun* run : runs) {
    tiled.shapes.push_back({static_cast<double>(run->m), static_cast<double>(run->n), static_cast<double>(run->k),
                            Seconds{run->seconds.mean}});
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
    const auto m = static_cast<double>(run->m), n = static_cast<double>(run->n), k = static_cast<double>(run->k);
    if (std::min({m, n, k}) < large) continue;
    const auto element = static_cast<double>(element_size(run->dtype));
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

/// The device looks at its power now and then, so that one series feels the load later than another: the earliest
/// counts.
Seconds sustained_after(const Measurements& m, DType dtype, double factor) {
  std::vector<double> found;
  for (const LoadSeries& series : m.loads)
    if (series.dtype == dtype && series.gpu == m.devices[0].name && !series.points.empty())
      found.push_back(felt_after(series, factor));
  return Seconds{found.empty() ? 0 : *std::ranges::min_element(found)};
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
  for (const auto& [bytes, sum] : sums)
    factors.push_back({static_cast<double>(bytes), std::max(1.0, sum.first / sum.second)});
  for (std::size_t i = factors.size(); i-- > 1;)
    factors[i - 1].factor = std::max(factors[i - 1].factor, factors[i].factor);
  while (!factors.empty() && factors.back().factor < 1.005) factors.pop_back();
  return factors;
}

std::string kernel_name(const std::string& model) {
  std::string name;
  for (const char c : model)
    name += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '-';
  return name.empty() ? "gpu" : name;
}

}  // namespace

KernelTimes fit_kernels(const Measurements& m) {
  if (m.memory.empty()) throw InputError{"measurements: no memory rate; expected a run under 'memory'"};
  KernelTimes kernels;
  kernels.name = kernel_name(m.devices[0].model);
  kernels.source = "kernels";
  kernels.multiprocessors = m.devices[0].multiprocessors;
  kernels.memory_bandwidth = Rate{m.memory[0].rate.mean};
  kernels.launch = Seconds{1};
  for (const DType dtype : {DType::f64, DType::f32, DType::tf32, DType::f16, DType::bf16}) {
    TiledGemm rule;
    std::vector<GemmCurve::Load> sustained;
    Seconds after{0};
    std::vector<GemmCurve::Alignment> alignment;
    std::optional<Watts> watts;
    for (const char* trans : {"NN", "NT", "TN", "TT"}) {
      std::vector<const KernelRun*> alone, loaded;
      for (const KernelRun& run : m.kernels)
        if (run.dtype == dtype && run.trans == trans && run.at_once == 1 && run.alignment == 0 &&
            run.gpu == m.devices[0].name)
          (run.duty < rested ? alone : loaded).push_back(&run);
      if (alone.empty()) continue;
      const bool first = rule.blocks.empty();
      if (first) {
        rule = fit_rule(alone, kernels.multiprocessors, *kernels.memory_bandwidth);
        sustained = load_factors(alone, loaded);
        if (!sustained.empty()) after = sustained_after(m, dtype, sustained.back().factor);
        alignment = alignment_factors(m, dtype, alone);
        watts = kernel_watts(loaded, m.devices[0]);
        kernels.launch = std::min(kernels.launch, rule.launch);
        if (kernels.gemm.empty()) kernels.k_overhead = rule.fill;
      }
      GemmCurve curve;
      curve.dtype = dtype, curve.trans = first ? "" : trans, curve.source = "kernels";
      curve.tiled = first ? rule : as_fast_as(rule, alone, kernels.multiprocessors, *kernels.memory_bandwidth);
      curve.sustained = sustained, curve.sustained_after = after, curve.alignment = alignment;
      curve.watts = watts;
      set_shapes(*curve.tiled, alone);
      kernels.gemm.push_back(std::move(curve));
    }
  }
  if (kernels.gemm.empty()) throw InputError{"measurements: no kernel times; expected runs under 'kernels'"};
  return kernels;
}

}  // namespace tilerail::fit
