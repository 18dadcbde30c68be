#include "cli/output/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "report/timeline/annotate.hpp"
#include "study/evaluation.hpp"

namespace tilerail::cli {
namespace {

std::string peaks_text(const Plan& plan) {
  std::vector<std::string> peaks;
  for (const auto i : indices(plan.peak_bytes)) {
    if (plan.peak_bytes[i] == 0) continue;
    peaks.push_back(fmt::format("{} {}", plan.memories[i], bytes_text(double(plan.peak_bytes[i]))));
  }
  return peaks.empty() ? "none" : fmt::format("{}", fmt::join(peaks, ", "));
}

std::string operations_text(const Plan& plan) {
  std::array<size_t, op_kind_count> counts{};
  Bytes copied{0};
  for (const Op& op : plan.ops) {
    ++counts[size_t(op.kind)];
    if (op.kind == OpKind::copy) copied += copy_bytes(plan, op);
  }
  std::string text = std::to_string(plan.ops.size()) + ":";
  for (const OpKind kind : all_op_kinds())
    if (const size_t count = counts[size_t(kind)]; count > 0) text += fmt::format(" {} {},", count, to_string(kind));
  return fmt::format("{} {} copied", text, bytes_text(copied.value));
}

/// What was decided, from what and why. Devices and tile have lines of their own.
void add_origin(std::vector<std::vector<std::string>>& lines, const PlanOrigin& origin) {
  constexpr size_t in_a_line = 6;
  std::vector<std::string> decided;
  for (const PlanDecision& decision : origin.decisions)
    if (decision.key != "devices" && decision.key != "tile") decided.push_back(decision.key + " " + decision.value);
  for (size_t first = 0; first < decided.size(); first += in_a_line) {
    const auto begin = decided.begin() + ptrdiff_t(first);
    const auto end = decided.begin() + ptrdiff_t(std::min(first + in_a_line, decided.size()));
    lines.push_back({first == 0 ? "decided" : "", fmt::format("{}", fmt::join(begin, end, ", "))});
  }
  for (const PlanCandidate& candidate : origin.candidates)
    lines.push_back({&candidate == &origin.candidates.front() ? "candidates" : "",
                     fmt::format("{}: {} by {}", candidate.what, seconds_text(candidate.seconds), candidate.judge)});
  if (!origin.why.empty()) lines.push_back({"why", origin.why});
  for (const std::string& wish : origin.without_effect) lines.push_back({"no effect", wish});
}

}  // namespace

std::string plan_text(const study::Job& job) {
  const Plan& plan = job.plan;
  std::vector<std::string> devices;
  for (MemoryId gpu : plan.devices) devices.push_back(plan.memories[gpu.index()]);
  std::vector<std::vector<std::string>> lines{{"problem", problem_text(plan)},
                                              {"machine", plan.machine},
                                              {"policy", plan.policy},
                                              {"devices", fmt::format("{}", fmt::join(devices, " "))},
                                              {"tile", std::to_string(plan.tile)}};
  if (!job.note.empty()) lines.insert(lines.begin() + 1, {"note", job.note});
  add_origin(lines, plan.origin);
  if (const auto predicted = study::expectation_of(plan, job.topology))
    lines.push_back({"predicted", fmt::format("{}, {}", seconds_text(predicted->makespan.value),
                                              interval_text(predicted->interval))});
  for (std::vector<std::string> line : {std::vector<std::string>{"operations", operations_text(plan)},
                                        {"tile memory", peaks_text(plan)},
                                        {"planned in", seconds_text(job.plan_s)},
                                        {"plan hash", content_hash(plan)}})
    lines.push_back(std::move(line));
  return aligned(lines, "l");
}

}  // namespace tilerail::cli
