#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/host_run.hpp"
#include "cli/option_group.hpp"
#include "cli/output.hpp"
#include "cli/parse.hpp"
#include "model/error.hpp"
#include "report/summary.hpp"
#include "report/text.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(The timeline and the result are those of the iteration with the median makespan.
Examples:
  tilerail run --backend host --gemm 2K --topology machine.toml --check
  tilerail run --backend host --plan plan.json --iters 5 --timeline measured.csv --json measured.json)";

constexpr int most_iterations = 1000;

struct RunOptions {
  JobOptions job;
  OutputOptions output;
  std::string backend, iterations = "3", warmup = "1", seed = "1";
  bool check = false;
};

RunSettings settings_of(const RunOptions& options) {
  RunSettings settings;
  settings.iterations = static_cast<int>(parse_integer(options.iterations, "--iters", 1, most_iterations));
  settings.warmup = static_cast<int>(parse_integer(options.warmup, "--warmup", 0, most_iterations));
  settings.seed =
      static_cast<std::uint64_t>(parse_integer(options.seed, "--seed", 0, std::numeric_limits<std::int64_t>::max()));
  settings.check = options.check;
  return settings;
}

std::string text_of(const Summary& summary, const RunResult& result) {
  const auto [least, most] = std::minmax_element(result.makespans.begin(), result.makespans.end());
  std::string text = summary_table(summary);
  text += fmt::format("\niterations: {}, median {}, from {} to {}\n", result.makespans.size(),
                      seconds_text(summary.makespan_s), seconds_text(*least), seconds_text(*most));
  if (result.check) {
    text += fmt::format("check: {}: {}\n", result.check->passed() ? "passed" : "FAILED", result.check->summary());
  }
  return text;
}

/// The summary's object with what only a measured run has.
std::string json_of(const Summary& summary, const RunResult& result) {
  auto json = nlohmann::ordered_json::parse(to_json(summary));
  json["iterations_s"] = result.makespans;
  if (result.check) {
    json["check"] = {{"passed", result.check->passed()},
                     {"residual", result.check->residual},
                     {"tolerance", result.check->tolerance}};
  }
  return json.dump(2) + "\n";
}

int run_run(const RunOptions& options) {
  const RunSettings settings = settings_of(options);
  if (options.backend == "cuda") throw HardwareError{"--backend: this build has no CUDA backend"};
  if (options.backend != "host") {
    throw InputError{
        fmt::format("--backend: '{}' is no backend that runs plans; there are: host, cuda", options.backend)};
  }
  Outputs outputs{options.output, TraceKind::one_timeline};
  const Job job = make_job(options.job);
  const RunResult result = run_on_host(job, settings);
  const AnnotatedTimeline annotated = annotate(job.plan, job.topology, result.timeline);
  const RunTimes times{job.plan_s, result.timeline.makespan().value};
  const Summary summary = summarize(job.plan, job.topology, annotated, times);
  outputs.write({{"measured", &annotated}}, text_of(summary, result), json_of(summary, result));
  if (!result.check || result.check->passed()) return exit_ok;
  std::fputs(fmt::format("tilerail: check failed: {}\n", result.check->summary()).c_str(), stderr);
  return exit_check_failed;
}

}  // namespace

Command add_run(CLI::App& root) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = root.add_subcommand("run", "Execute a plan on real memory and measure it");
  app->footer(footer);
  options->job.add_to(*app, true);
  OptionGroup group{*app, "RUN"};
  group.add("--backend", "NAME", options->backend, "host: CPU threads and memory of this machine; cuda")->required();
  app->add_flag("--check", options->check, "Compare the result with a one-call reference")->group(group.heading);
  group.add("--iters", "N", options->iterations, "Measured iterations [3]");
  group.add("--warmup", "N", options->warmup, "Iterations before them [1]");
  group.add("--seed", "N", options->seed, "Of the random matrices [1]");
  options->output.add_to(*app, TraceKind::one_timeline);
  return {app, [options] { return run_run(*options); }};
}

}  // namespace tilerail::cli
