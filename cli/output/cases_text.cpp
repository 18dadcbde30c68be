#include "cli/output/cases_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/output/note_text.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::CaseResult;

constexpr const char* line_format =
    "{:<44} {:<28} {:>6} {:>10} {:>8} {:>10} {:>10} {:>7} {:>6}   {:>8} {:>8} {:>8} {:>8}   {:>9} {:>9}  {}\n";

std::string line_of(const CaseResult& result) {
  const double median = result.measured.median();
  const auto share = [&](double seconds) {
    return result.predicted ? fmt::format("{:+.1f}%", 100 * seconds / median) : "-";
  };
  const std::optional<double> over = result.over_bound();
  const std::optional<bool> in = result.in_interval();
  const auto& [kernel, copy, waiting, issue] = result.split;
  return fmt::format(fmt::runtime(line_format), result.name(), result.job.plan.policy, result.job.plan.tile,
                     seconds_text(result.bound.time.value), over ? fmt::format("{:.2f} x", *over) : "-",
                     result.predicted ? seconds_text(*result.predicted) : "-", seconds_text(median),
                     result.predicted ? fmt::format("{:+.1f}%", 100 * result.error()) : "-",
                     !in   ? "-"
                     : *in ? "yes"
                           : "no",
                     share(kernel), share(copy), share(waiting), share(issue),
                     result.predicted_j ? joules_text(*result.predicted_j) : "-",
                     result.counted() ? joules_text(result.counted()->total()) : "-",
                     !result.measured.check ? "-"
                     : result.failed()      ? "FAILED"
                                            : "passed");
}

/// Of predictions.
const CaseResult& worst_of(std::span<const CaseResult> results) {
  return *std::ranges::max_element(results, {}, [](const CaseResult& result) { return std::abs(result.error()); });
}

std::string intervals_text(const study::CaseSummary& summary) {
  if (summary.intervals == 0) return "";
  std::string text = fmt::format("in the {:g}% prediction interval: {} of {}, {:.0f}%\n", 100 * Uncertainty::level,
                                 summary.in_interval, summary.intervals,
                                 100.0 * double(summary.in_interval) / double(summary.intervals));
  if (summary.wide_intervals > 0)
    text += fmt::format("{} of these {} intervals are wider than +-{:g}%: too wide to tell anything; calibrate again\n",
                        summary.wide_intervals, summary.intervals, 100 * PredictedInterval::widest);
  return text;
}

std::string text_of(const study::CaseSummary& summary, const CaseResult& worst) {
  const std::string text = fmt::format(
      "\n{}: error median {:.1f}%, 95% within {:.1f}%, largest {:.1f}%: {}, {}, tile {}\n",
      summary.cases == 1 ? "1 case" : fmt::format("{} cases", summary.cases), 100 * summary.median,
      100 * summary.within_95, 100 * summary.largest, worst.name(), worst.job.plan.policy, worst.job.plan.tile);
  return text + intervals_text(summary);
}

}  // namespace

std::string to_text(std::span<const CaseResult> results) {
  std::string text =
      fmt::format(fmt::runtime(line_format), "case", "policy", "tile", "bound", "over it", "predicted", "measured",
                  "error", "in 90%", "kernel", "copy", "waiting", "issue", "energy", "counted", "check");
  for (const CaseResult& result : results) text += line_of(result);
  const auto noted = std::ranges::find_if(results, [](const CaseResult& result) { return !result.job.note.empty(); });
  if (noted != results.end()) text += note_text(noted->job.note);
  for (const CaseResult& result : results)
    if (const std::string& note = result.job.plan_cache; !note.empty())
      text += fmt::format("{}, {}: {}\n", result.name(), result.job.plan.policy, note);
  for (const CaseResult& result : results)
    if (const auto& wishes = result.job.plan.origin.without_effect; !wishes.empty())
      text += fmt::format("no effect in {}, {}: {}\n", result.name(), result.job.plan.policy, fmt::join(wishes, "; "));
  const auto summary = study::summary_of(results);
  return summary ? text + text_of(*summary, worst_of(results)) : text;
}

}  // namespace tilerail::cli
