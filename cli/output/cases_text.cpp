#include "cli/output/study_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::CaseResult;

/// The case with the largest error.
const CaseResult& worst_of(std::span<const CaseResult> results) {
  return *std::ranges::max_element(
      results, {}, [](const CaseResult& result) { return std::abs(*result.error()); });
}

std::string intervals_text(const study::CaseSummary& summary) {
  if (summary.intervals == 0) return "";
  return fmt::format("in the {:g}% prediction interval: {} of {}, {:.0f}%\n",
                     100 * Uncertainty::level, summary.in_interval, summary.intervals,
                     100.0 * double(summary.in_interval) / double(summary.intervals));
}

std::string text_of(const study::CaseSummary& summary, const CaseResult& worst) {
  const std::string text = fmt::format(
      "\n{}: error median {:.1f}%, 95% within {:.1f}%, largest {:.1f}%: {}, {}, tile "
      "{}\n",
      summary.cases == 1 ? "1 case" : fmt::format("{} cases", summary.cases),
      100 * summary.median, 100 * summary.within_95, 100 * summary.largest, worst.name(),
      worst.job.plan.policy, worst.job.plan.tile);
  return text + intervals_text(summary);
}

}  // namespace

std::string to_text(std::span<const CaseResult> results) {
  std::string text = aligned(study::case_columns().lines(results), "llr");
  const auto noted = std::ranges::find_if(
      results, [](const CaseResult& result) { return !result.job.note.empty(); });
  if (noted != results.end()) text += note_text(noted->job.note);
  const auto summary = study::summary_of(results);
  return summary ? text + text_of(*summary, worst_of(results)) : text;
}

}  // namespace tilerail::cli
