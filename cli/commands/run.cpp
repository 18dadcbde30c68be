#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output.hpp"
#include "model/base/text.hpp"
#include "report/summary/summary.hpp"
#include "study/job_result.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* run_footer =
    R"(host: the timeline and the result come from the median iteration, of two the faster. cuda: iterations are not traced;
the timeline comes from a traced one after them, and --check runs once more.
Examples:
  tilerail run --backend host --gemm 2K --topology machine.toml --check
  tilerail run --backend host --plan plan.json --iters 5 --timeline measured.csv --json measured.json)";

struct RunOptions {
  study::JobText job;
  OutputOptions output;
  BenchOptions bench{.iterations = "3", .warmup = "1"};
  std::string backend;
};

std::string energy_text(const CountedEnergy& energy) {
  return fmt::format(
      "energy counted by the GPUs: {} a call, {} on average, over {} calls of {}\n",
      joules_text(energy.total()), watts_text(energy.watts()), energy.calls,
      seconds_text(energy.seconds));
}

std::string gpu_text(const study::GpuRunFacts& gpu) {
  return (gpu.energy ? energy_text(*gpu.energy) : "") +
         fmt::format("first call: {}\nhost buffers: {}\n", seconds_text(gpu.first_s),
                     gpu.host_buffer);
}

std::string text_of(const Summary& summary, const study::RunResult& result) {
  const auto [least, most] =
      std::minmax_element(result.makespans.begin(), result.makespans.end());
  std::string text = summary_table(summary);
  text += fmt::format("\niterations: {}, median {}, from {} to {}\n",
                      result.makespans.size(), seconds_text(result.median()),
                      seconds_text(*least), seconds_text(*most));
  if (result.gpu) text += gpu_text(*result.gpu);
  if (result.check) {
    text += fmt::format("check: {}: {}\n", result.check->passed ? "passed" : "FAILED",
                        result.check->summary);
  }
  return text;
}

int run_run(const RunOptions& options) {
  const study::RunSettings settings = options.bench.settings(0, options.backend);
  study::require_backend(options.backend);
  Outputs outputs{options.output, TraceKind::one_timeline};
  const study::Job job = study::make_job(options.job);
  const study::JobResult result = study::run_job(job, options.backend, settings);
  const std::optional<CheckResult>& check = result.run->check;
  outputs.write({{"measured", &result.timeline}}, text_of(result.summary, *result.run),
                study::to_json(result));
  if (!check || check->passed) return exit_ok;
  std::fputs(fmt::format("tilerail: check failed: {}\n", check->summary).c_str(), stderr);
  return exit_check_failed;
}

}  // namespace

Command add_run(CLI::App& root) {
  return make_command<RunOptions>(
      root, "run", "Execute a plan on real memory and measure it", run_footer, run_run,
      [](CLI::App& app, RunOptions& options) {
        add_options(app, options.job, true);
        add_plan_cache(app, options.job.plan_cache);
        OptionGroup group{app, "RUN"};
        group
            .add("--backend", "NAME", options.backend,
                 "host: CPU threads and memory of this machine; cuda: its GPUs")
            ->required();
        options.bench.add_to(group);
        options.output.add_to(app, TraceKind::one_timeline);
      });
}

}  // namespace tilerail::cli
