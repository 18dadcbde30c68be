// What 2-D copies cost, by column, pitch and what the device's cache knows of their pages.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "calibration/fit_parts.hpp"
#include "model/base/statistics.hpp"

namespace tilerail::fit {
namespace {

/// The largest number of bytes of which all measured pitches of whole pages are multiples; 0 where all or none of the
/// pitches are of whole pages.
Bytes border_of(const std::vector<StridedRun>& runs) {
  constexpr std::int64_t page = 4096;
  std::int64_t border = 0;
  bool others = false;
  for (const StridedRun& run : runs) {
    const auto pitch = static_cast<std::int64_t>(run.pitch_bytes);
    if (pitch % page == 0)
      border = std::gcd(border, pitch);
    else
      others = true;
  }
  return Bytes{others ? static_cast<double>(border) : 0};
}

/// What kernels read and write until copies take as long as halfway from those of pages that were copied just before to
/// those of others: between the two runs where it is passed, of the columns and the pitch with the most such runs. 0
/// where no runs tell.
Bytes page_cache_of(const std::vector<StridedRun>& runs) {
  std::map<std::pair<double, double>, std::map<double, std::pair<double, int>>> seconds;  // a byte, by bytes between
  for (const StridedRun& run : runs) {
    if ((run.src != "host" && run.dst != "host") || run.beside) continue;
    auto& [sum, count] = seconds[{run.column_bytes, run.pitch_bytes}][run.between_bytes];
    sum += run.packed.mean / run.strided.mean, ++count;
  }
  const auto most = std::ranges::max_element(seconds, {}, [](const auto& shape) { return shape.second.size(); });
  if (most == seconds.end() || most->second.size() < 3) return Bytes{0};
  const auto mean = [](const auto& at) { return at.second.first / at.second.second; };
  const double middle = (mean(*most->second.begin()) + mean(*most->second.rbegin())) / 2;
  const auto above = std::ranges::find_if(most->second, [&](const auto& at) { return mean(at) > middle; });
  if (above == most->second.end() || above == most->second.begin()) return Bytes{0};
  const auto below = std::prev(above);
  const double part = (middle - mean(*below)) / (mean(*above) - mean(*below));
  return Bytes{below->first + part * (above->first - below->first)};
}

/// By pitch and column, the mean over both directions between the host and a device, or over those between devices.
std::vector<StridedEfficiency::Point> curve_of(const std::vector<StridedRun>& runs, bool again, bool between_devices) {
  std::map<std::pair<double, double>, std::pair<double, int>> sums;
  for (const StridedRun& run : runs) {
    const bool host = run.src == "host" || run.dst == "host";
    const bool counts = again ? run.between_bytes == 0 : between_devices || run.between_bytes >= fills_any_cache;
    if (!counts || host == between_devices || run.beside) continue;
    auto& [sum, count] = sums[{run.pitch_bytes, run.column_bytes}];
    sum += run.strided.mean / run.packed.mean, ++count;
  }
  std::vector<StridedEfficiency::Point> points;
  for (const auto& [at, sum] : sums)
    points.push_back({Bytes{at.second}, std::min(1.0, sum.first / sum.second), Bytes{at.first}});
  return points;
}

/// How many times as long finding the pages of a copy takes beside kernels and copies the other way: with p the time of
/// packed bytes, (time beside - p) over (time alone - p), the median of the runs that lose enough alone to tell.
double beside_of(const std::vector<StridedRun>& runs) {
  constexpr double lost = 0.25;  // of the time of packed bytes
  const auto more = [](const StridedRun& run) { return run.packed.mean / run.strided.mean - 1; };
  std::vector<double> found;
  for (const StridedRun& run : runs)
    for (const StridedRun& alone : runs)
      if (run.beside && !alone.beside && (run.src == "host" || run.dst == "host") &&
          alone.between_bytes >= fills_any_cache && run.src == alone.src && run.dst == alone.dst &&
          run.column_bytes == alone.column_bytes && run.pitch_bytes == alone.pitch_bytes && more(alone) > lost)
        found.push_back(more(run) / more(alone));
  return found.empty() ? 1 : std::max(1.0, median(found));
}

}  // namespace

void fit_columns(Context& context) {
  const std::vector<StridedRun>& runs = context.measurements.strided;
  StridedEfficiency& strided = context.description.strided;
  strided.points = curve_of(runs, false, false), strided.peer = curve_of(runs, false, true);
  strided.again = curve_of(runs, true, false), strided.cache = page_cache_of(runs);
  if (strided.again.empty() || strided.cache == Bytes{0}) strided.again.clear(), strided.cache = Bytes{0};
  if (strided.points.empty())
    strided = {};
  else
    strided.source = "columns", strided.border = border_of(runs), strided.beside = beside_of(runs);
}

}  // namespace tilerail::fit
