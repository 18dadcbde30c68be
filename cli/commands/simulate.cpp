
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress.hpp"
#include "report/summary/summary.hpp"
#include "study/job_result.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* simulate_footer = R"(Examples:
  tilerail simulate --gemm 16K --topology karolina-hgx-a100 --policy gemmex
  tilerail simulate --gemm 8K --topology clx-ai --devices 0-3 --place 0:0:0 --set routing=bandwidth --json -
  tilerail simulate --plan plan.json --timeline predicted.csv --timeline trace.json --gantt gantt.svg)";

struct SimulateOptions {
  study::JobText job;
  OutputOptions output;
};

int run_simulate(const SimulateOptions& options) {
  Outputs outputs{options.output, TraceKind::one_timeline};
  const study::Job job = study::make_job(options.job);
  const study::JobResult result = [&] {
    const Progress progress{"simulating"};
    return study::simulate_job(job, simulator_backend);
  }();
  outputs.write({{"predicted", &result.timeline}}, summary_table(result.summary),
                study::to_json(result));
  return exit_ok;
}

}  // namespace

Command add_simulate(CLI::App& root) {
  return make_command<SimulateOptions>(
      root, "simulate", "Predict how a plan runs on a described machine", simulate_footer,
      run_simulate, [](CLI::App& app, SimulateOptions& options) {
        add_options(app, options.job, true);
        add_plan_cache(app, options.job.plan_cache);
        options.output.add_to(app, TraceKind::one_timeline);
      });
}

}  // namespace tilerail::cli
