// Fits the cost of 2-D copies: by column, by pitch, and by page cache state of the
// device.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "calibration/fit_parts.hpp"
#include "model/base/statistics.hpp"

namespace tilerail::fit {
namespace {

bool of_host(const StridedRun& run) { return run.src == host || run.dst == host; }

/// The largest number of bytes that divides all measured pitches of whole pages; 0 if all
/// or no pitches are whole pages.
Bytes border_of(const std::vector<StridedRun>& runs) {
  constexpr int64_t page = 4096;
  int64_t border = 0;
  bool others = false;
  for (const StridedRun& run : runs) {
    const auto pitch = int64_t(run.pitch_bytes);
    if (pitch % page == 0)
      border = std::gcd(border, pitch);
    else
      others = true;
  }
  return Bytes{others ? double(border) : 0};
}

/// Bytes that kernels read and write between two copies of the same pages until the copy
/// time is halfway from a warm to a cold page cache: interpolated between the two runs
/// around the midpoint, for the column and pitch with the most runs. 0 without enough
/// runs.
Bytes page_cache_of(const std::vector<StridedRun>& runs) {
  std::map<std::pair<double, double>, std::map<double, Mean>>
      seconds;  // per byte, by bytes between
  for (const StridedRun& run : runs)
    if (of_host(run) && !run.beside)
      seconds[{run.column_bytes, run.pitch_bytes}][run.between_bytes].add(
          run.packed.mean / run.strided.mean);
  const auto most = std::ranges::max_element(
      seconds, {}, [](const auto& shape) { return shape.second.size(); });
  if (most == seconds.end() || most->second.size() < 3) return Bytes{0};
  const auto mean = [](const auto& at) { return at.second.value(); };
  const double middle = (mean(*most->second.begin()) + mean(*most->second.rbegin())) / 2;
  const auto above = std::ranges::find_if(
      most->second, [&](const auto& at) { return mean(at) > middle; });
  if (above == most->second.end() || above == most->second.begin()) return Bytes{0};
  const auto below = std::prev(above);
  const double part = (middle - mean(*below)) / (mean(*above) - mean(*below));
  return Bytes{below->first + part * (above->first - below->first)};
}

/// By pitch and column: the mean over both directions between the host and a device, or
/// over copies between devices.
std::vector<StridedEfficiency::Point> curve_of(const std::vector<StridedRun>& runs,
                                               bool again, bool between_devices) {
  std::map<std::pair<double, double>, Mean> rates;
  for (const StridedRun& run : runs) {
    const bool counts = again ? run.between_bytes == 0
                              : between_devices || run.between_bytes >= fills_any_cache;
    if (counts && of_host(run) != between_devices && !run.beside)
      rates[{run.pitch_bytes, run.column_bytes}].add(run.strided.mean / run.packed.mean);
  }
  std::vector<StridedEfficiency::Point> points;
  for (const auto& [at, rate] : rates)
    points.push_back({Bytes{at.second}, std::min(1.0, rate.value()), Bytes{at.first}});
  return points;
}

/// Time to find the pages of a copy, relative to the time of its bytes when packed:
/// alone, without lines shared by columns, and under load (kernels and opposite copies).
struct Finding {
  double alone, apart, beside;
};

/// Time to find the pages, relative to the time of the same bytes when packed.
double more_time(const StridedRun& run) { return run.packed.mean / run.strided.mean - 1; }

/// Whether `other` is the same copy without load and with a cold cache; the pitch may
/// differ.
bool is_unloaded(const StridedRun& other, const StridedRun& run) {
  const bool is_cold_and_alone = !other.beside && other.between_bytes >= fills_any_cache;
  const bool has_same_ends = other.src == run.src && other.dst == run.dst;
  return is_cold_and_alone && has_same_ends && other.column_bytes == run.column_bytes;
}

/// None if the copy was not measured alone. `apart` is measured at the smallest pitch
/// that is at least a line and at least the pitch of the run.
std::optional<Finding> finding_of(const StridedRun& run,
                                  const std::vector<StridedRun>& runs) {
  const StridedRun *alone = nullptr, *apart = nullptr;
  for (const StridedRun& other : runs) {
    if (!is_unloaded(other, run)) continue;
    if (other.pitch_bytes == run.pitch_bytes) alone = &other;
    if (Bytes{other.pitch_bytes} < StridedEfficiency::line ||
        other.pitch_bytes < run.pitch_bytes)
      continue;
    if (!apart || other.pitch_bytes < apart->pitch_bytes) apart = &other;
  }
  if (!alone) return std::nullopt;
  return Finding{more_time(*alone),
                 std::max(more_time(*alone), apart ? more_time(*apart) : 0),
                 more_time(run)};
}

/// Findings for copies between a host and a GPU that were measured both alone and under
/// load.
std::vector<Finding> findings_of(const std::vector<StridedRun>& runs) {
  std::vector<Finding> found;
  for (const StridedRun& run : runs) {
    if (!run.beside || !of_host(run)) continue;
    if (const auto finding = finding_of(run, runs)) found.push_back(*finding);
  }
  return found;
}

/// Effect of load (kernels and opposite copies) on the time to find pages: a factor, and
/// the share of common lines that load evicts.
struct Interference {
  double factor = 1, forgotten = 0;
};

/// Grid search over the share in hundredths; the factor is the median over runs with a
/// long enough time to find pages. Minimises the mean |log(described / measured)| over
/// all runs, each limited to 0.3.
Interference interference_of(const std::vector<StridedRun>& runs) {
  constexpr double long_enough = 0.25,
                   most = 0.3;  // share of the packed time; limit of the logarithm
  const std::vector<Finding> findings = findings_of(runs);
  Interference best;
  double least = INFINITY;
  for (int hundredths = 0; hundredths <= 100 && !findings.empty(); ++hundredths) {
    const double forgotten = hundredths / 100.0;
    const auto told = [&](const Finding& f) {
      return f.alone + forgotten * (f.apart - f.alone);
    };
    std::vector<double> factors;
    for (const Finding& f : findings)
      if (told(f) > long_enough) factors.push_back(f.beside / told(f));
    const double factor = factors.empty() ? 1 : std::max(1.0, median(factors));
    double sum = 0;
    for (const Finding& f : findings)
      sum += std::min(most, std::abs(std::log((1 + factor * told(f)) / (1 + f.beside))));
    if (sum < least) least = sum, best = {factor, forgotten};
  }
  return best;
}

}  // namespace

void fit_columns(Context& context) {
  const std::vector<StridedRun>& runs = context.measurements.strided;
  StridedEfficiency& strided = context.description.strided;
  strided.points = curve_of(runs, false, false),
  strided.peer = curve_of(runs, false, true);
  strided.again = curve_of(runs, true, false), strided.cache = page_cache_of(runs);
  if (strided.again.empty() || strided.cache == Bytes{0})
    strided.again.clear(), strided.cache = Bytes{0};
  if (strided.points.empty()) {
    strided = {};
    return;
  }
  strided.source = "columns", strided.border = border_of(runs);
  const Interference found = interference_of(runs);
  strided.beside = found.factor, strided.forgotten = found.forgotten;
}

}  // namespace tilerail::fit
