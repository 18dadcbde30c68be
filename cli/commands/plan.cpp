#include <fmt/format.h>

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/plan_text.hpp"
#include "plan/json.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  tilerail plan --gemm 16K --topology karolina-hgx-a100 --policy gemmex -o plan.json
  tilerail plan --gemm 8K,2K,4K --transa T --beta 0 --place 0:0:0 --topology clx-ai --devices 0-3 -o -)";

struct PlanOptions {
  study::JobText job;
  std::string output;
};

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
  auto options = std::make_shared<PlanOptions>();
  CLI::App* app = root.add_subcommand("plan", "Plan a problem and save the plan");
  app->footer(footer);
  add_options(*app, options->job, false);
  add_plan_cache(*app, options->job.plan_cache);
  OptionGroup{*app, "OUTPUT"}.add("-o,--output", "FILE", options->output,
                                  "Where the plan goes, - for stdout; absent: only its summary");
  return {app, [options] { return run_plan(*options); }};
}

}  // namespace tilerail::cli
