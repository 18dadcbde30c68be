#include "cli/output/study_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::CaseResult;

std::vector<std::string> line_of(const CaseResult& result) {
  const double median = result.measured.median();
  const auto share = [&](double seconds) {
    return result.predicted ? fmt::format("{:+.1f}%", 100 * seconds / median) : "-";
  };
  const std::optional<bool> in = result.in_interval();
  const auto& [kernel, copy, waiting, issue] = result.split;
  return {result.name(),
          result.job.plan.policy,
          std::to_string(result.job.plan.tile),
          result.predicted ? seconds_text(*result.predicted) : "-",
          seconds_text(median),
          share(result.predicted.value_or(0) - median),
          in ? (*in ? "yes" : "no") : "-",
          share(kernel),
          share(copy),
          share(waiting),
          share(issue),
          result.measured.check ? (result.failed() ? "FAILED" : "passed") : "-"};
}

/// The case with the largest error.
const CaseResult& worst_of(std::span<const CaseResult> results) {
  return *std::ranges::max_element(
      results, {}, [](const CaseResult& result) { return std::abs(result.error()); });
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
  Lines lines{{"case", "policy", "tile", "predicted", "measured", "error", "in 90%",
               "kernel", "copy", "waiting", "issue", "check"}};
  for (const CaseResult& result : results) lines.push_back(line_of(result));
  std::string text = aligned(lines, "llr");
  const auto noted = std::ranges::find_if(
      results, [](const CaseResult& result) { return !result.job.note.empty(); });
  if (noted != results.end()) text += note_text(noted->job.note);
  const auto summary = study::summary_of(results);
  return summary ? text + text_of(*summary, worst_of(results)) : text;
}

}  // namespace tilerail::cli
