#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/text.hpp"
#include "plan/describe.hpp"
#include "plan/json.hpp"
#include "report/timeline/annotate.hpp"
#include "study/evaluation.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* plan_footer = R"(Examples:
  tilerail plan --gemm 16K --topology karolina-hgx-a100 --policy gemmex -o plan.json
  tilerail plan --gemm 8K,2K,4K --transa T --beta 0 --place 0:0:0 --topology clx-ai --devices 0-3 -o -)";

struct PlanOptions {
  study::JobText job;
  std::string output;
};

std::string operations_text(const Plan& plan) {
  Bytes copied{0};
  std::array<size_t, op_kind_count> counts{};
  for (const Op& op : plan.ops) {
    ++counts[size_t(op.kind)];
    if (op.kind == OpKind::copy) copied += copy_bytes(plan, op);
  }
  std::string text = std::to_string(plan.ops.size()) + ":";
  for (const OpKind kind : all_op_kinds())
    if (const size_t count = counts[size_t(kind)]; count > 0)
      text += fmt::format(" {} {},", count, to_string(kind));
  return fmt::format("{} {} copied", text, bytes_text(copied.value));
}

/// Decisions, candidates and reasons. Devices and tile have separate lines.
void add_origin(Lines& lines, const PlanOrigin& origin) {
  constexpr size_t in_a_line = 6;
  std::vector<std::string> decided;
  for (const PlanDecision& decision : origin.decisions)
    if (decision.key != "devices" && decision.key != "tile")
      decided.push_back(decision.key + " " + decision.value);
  for (size_t first = 0; first < decided.size(); first += in_a_line) {
    const auto begin = decided.begin() + ptrdiff_t(first);
    const auto end =
        decided.begin() + ptrdiff_t(std::min(first + in_a_line, decided.size()));
    lines.push_back(
        {first == 0 ? "decided" : "", fmt::format("{}", fmt::join(begin, end, ", "))});
  }
  for (const PlanCandidate& candidate : origin.candidates)
    lines.push_back(
        {&candidate == &origin.candidates.front() ? "candidates" : "",
         fmt::format("{}: {} by {}", candidate.what, seconds_text(candidate.seconds),
                     to_string(candidate.evaluator))});
  if (!origin.reasons.empty()) lines.push_back({"why", reason_text(origin)});
  for (const std::string& option : origin.without_effect)
    lines.push_back({"no effect", option});
}

std::string plan_text(const study::Job& job) {
  const Plan& plan = job.plan;
  std::vector<std::string> devices;
  for (MemoryId gpu : plan.devices) devices.push_back(job.topology.processor_name(gpu));
  Lines lines{{"problem", problem_text(plan, job.topology)},
              {"machine", plan.machine},
              {"policy", plan.policy},
              {"devices", boost::join(devices, " ")},
              {"tile", std::to_string(plan.tile)}};
  if (!job.note.empty()) lines.insert(lines.begin() + 1, {"note", job.note});
  add_origin(lines, plan.origin);
  if (const auto predicted = study::expectation_of(plan, job.topology))
    lines.push_back(
        {"predicted", fmt::format("{}, {}", seconds_text(predicted->makespan.value),
                                  interval_text(predicted->interval))});
  lines.push_back({"operations", operations_text(plan)});
  lines.push_back({"planned in", seconds_text(job.plan_s)});
  lines.push_back({"plan hash", content_hash(plan)});
  return aligned(lines, "l");
}

int run_plan(const PlanOptions& options) {
  OutputSet outputs;
  outputs.expect(options.output, "-o");
  const study::Job job = study::make_job(options.job);
  outputs.add(options.output, [&](const TextSink& sink) {
    write_json(job.plan, sink);
    if (options.output == "-") sink("\n");
  });
  outputs.finish(plan_text(job));
  return exit_ok;
}

}  // namespace

Command add_plan(CLI::App& root) {
  return make_command<PlanOptions>(
      root, "plan", "Plan a problem and save the plan", plan_footer, run_plan,
      [](CLI::App& app, PlanOptions& options) {
        add_options(app, options.job, false);
        add_plan_cache(app, options.job.plan_cache);
        OptionGroup{app, "OUTPUT"}.add(
            "-o,--output", "FILE", options.output,
            "File of the plan, - for stdout; absent: only its summary");
      });
}

}  // namespace tilerail::cli
