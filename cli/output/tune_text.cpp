#include "cli/output/tune_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::TunedPlan;

std::string decided(const TunedPlan& tuned, std::string_view key) {
  const auto found = std::ranges::find(tuned.decisions, key, &PlanDecision::key);
  return found == tuned.decisions.end() ? "?" : found->value;
}

std::string gpus_of(const TunedPlan& tuned, const study::PlanKey& key) {
  const std::string names = decided(tuned, "devices");
  return fmt::format("{} of {}", 1 + std::ranges::count(names, ','), key.devices.size());
}

std::string seconds_or_dash(const std::optional<double>& seconds) { return seconds ? seconds_text(*seconds) : "-"; }

/// By how much the tuned plan is faster than what the policy chooses by itself; both by one judge.
std::string saved(const study::TuneResult& result) {
  if (!result.planned_s || result.tuned->judge != study::TunedBy::simulator || *result.planned_s <= 0) return "-";
  return fmt::format("{:.1f}%", 100 * (1 - result.tuned->seconds / *result.planned_s));
}

}  // namespace

std::string to_text(const std::vector<study::TuneResult>& results) {
  std::vector<std::vector<std::string>> lines{
      {"problem", "policy", "estimate", "planned", "tuned", "saved", "T", "GPUs", "by"}};
  std::string failed;
  for (const study::TuneResult& r : results) {
    if (!r.error.empty())
      failed += fmt::format("{}: {}: {}\n", r.tuned ? "in part" : "failed", text_of(r.key), r.error);
    if (!r.tuned) continue;
    lines.push_back({text_of(r.key), r.key.policy, seconds_or_dash(r.estimated_s), seconds_or_dash(r.planned_s),
                     seconds_text(r.tuned->seconds), r.known ? "known" : saved(r), decided(*r.tuned, "tile"),
                     gpus_of(*r.tuned, r.key), std::string{to_string(r.tuned->judge)}});
  }
  return (lines.size() > 1 ? aligned(lines, "llrrrrrrl") : "") + failed;
}

std::string to_text(const study::PlanCache& cache) {
  std::string text = fmt::format("{}: {} plans for machine '{}' of hash {}\n", cache.file, cache.plans.size(),
                                 cache.owner.machine, cache.owner.hash);
  std::vector<std::vector<std::string>> lines{{"problem", "policy", "makespan", "T", "GPUs", "tried", "by", "version"}};
  for (const auto& [key, tuned] : cache.plans)
    lines.push_back({text_of(key), key.policy, seconds_text(tuned.seconds), decided(tuned, "tile"), gpus_of(tuned, key),
                     std::to_string(tuned.tried), fmt::format("{}, from {}", to_string(tuned.judge), tuned.preset),
                     tuned.version});
  return lines.size() > 1 ? text + aligned(lines, "llrrrrll") : text;
}

}  // namespace tilerail::cli
