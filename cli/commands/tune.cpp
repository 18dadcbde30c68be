#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/study_output.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "study/tune/tune.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* tune_footer =
    R"(Simulates many more plans than 'plan' does, of all presets, and keeps the fastest of each problem in a plan cache, a file
of one machine: 'plan', 'simulate', 'run' and 'compare' take --plan-cache FILE or $TILERAIL_PLAN_CACHE, programs of the
library the same. Each plan is saved when found; an interrupted tuning continues when it is started again.
Examples:
  tilerail tune --gemm 16K --topology hgx-h200-4 --plan-cache node.toml
  tilerail tune --topology clx-ai --vary 'gemm=4K..32K x2' --vary 'place=h:h:h;0:0:0' --plan-cache clx-ai-plans.toml
  tilerail tune --list node.toml)";

struct TuneOptions {
  study::JobText job;
  std::vector<std::string> vary;
  std::string plan_cache, list, backend;
  bool again = false;
  BenchOptions bench{.iterations = "5", .warmup = "2"};
  JobsOption jobs;
  const CLI::App* app = nullptr;
};

using study::TunedPlan;

std::string decided(const TunedPlan& tuned, std::string_view key) {
  const auto found = std::ranges::find(tuned.decisions, key, &PlanDecision::key);
  return found == tuned.decisions.end() ? "?" : found->value;
}

std::string gpus_of(const TunedPlan& tuned, const study::PlanKey& key) {
  const std::string names = decided(tuned, "devices");
  return fmt::format("{} of {}", 1 + std::ranges::count(names, ','), key.devices.size());
}

std::string seconds_or_dash(const std::optional<double>& seconds) {
  return seconds ? seconds_text(*seconds) : "-";
}

/// The saving of the tuned plan over the policy's own choice, if both have the same
/// evaluator.
std::string saved(const study::TuneResult& result) {
  if (!result.planned_s || result.tuned->evaluator != Evaluator::simulator ||
      *result.planned_s <= 0)
    return "-";
  return fmt::format("{:.1f}%", 100 * (1 - result.tuned->seconds / *result.planned_s));
}

std::string table_text(const std::vector<study::TuneResult>& results) {
  Lines lines{
      {"problem", "policy", "estimate", "planned", "tuned", "saved", "T", "GPUs", "by"}};
  std::string failed;
  for (const study::TuneResult& r : results) {
    if (!r.error.empty())
      failed += fmt::format("{}: {}: {}\n", r.tuned ? "in part" : "failed",
                            text_of(r.key), r.error);
    if (!r.tuned) continue;
    lines.push_back({text_of(r.key), r.key.policy, seconds_or_dash(r.estimated_s),
                     seconds_or_dash(r.planned_s), seconds_text(r.tuned->seconds),
                     r.known ? "known" : saved(r), decided(*r.tuned, "tile"),
                     gpus_of(*r.tuned, r.key),
                     std::string{to_string(r.tuned->evaluator)}});
  }
  return (lines.size() > 1 ? aligned(lines, "llrrrrrrl") : "") + failed;
}

std::string list_text(const study::PlanCache& cache) {
  std::string text =
      fmt::format("{}: {} plans for machine '{}' of hash {}\n", cache.file,
                  cache.plans.size(), cache.owner.machine, cache.owner.hash);
  Lines lines{{"problem", "policy", "makespan", "T", "GPUs", "by"}};
  for (const auto& [key, tuned] : cache.plans)
    lines.push_back(
        {text_of(key), key.policy, seconds_text(tuned.seconds), decided(tuned, "tile"),
         gpus_of(tuned, key),
         fmt::format("{}, from {}", to_string(tuned.evaluator), tuned.preset)});
  return lines.size() > 1 ? text + aligned(lines, "llrrrl") : text;
}

std::string file_of(const TuneOptions& options) {
  const char* const named = std::getenv(study::plan_cache_variable);
  std::string file =
      !options.plan_cache.empty() || named == nullptr ? options.plan_cache : named;
  if (file.empty())
    throw missing("plan-cache",
                  fmt::format("a file here or in ${}", study::plan_cache_variable));
  return file;
}

study::TuneSettings settings_of(const TuneOptions& options) {
  study::TuneSettings settings;
  settings.again = options.again;
  study::PolicyText policy;
  policy.effort = options.job.policy.effort;
  if (policy.effort) settings.effort = policy.resolve().effort;
  const auto run = options.bench.settings_unless_simulated(options.backend);
  if (!run) return settings;
  settings.backend = options.backend, settings.run = *run;
  settings.run.energy_seconds = 0;  // not stored
  return settings;
}

int run_tune(const TuneOptions& options) {
  const std::string file = file_of(options);
  const study::TuneSettings settings = settings_of(options);
  study::JobText job = options.job;
  job.policy.effort.reset();  // the effort of the tuning instead
  const study::Sweep sweep = study::sweep_of(job, options.vary);
  if (!is_simulation(settings.backend) && !sweep.base.machine.settings.empty())
    throw InputError{"backend", settings.backend, "runs on the machine as it is",
                     "no --topo-set"};
  const Topology machine = study::machine_of_tune(sweep);
  const std::vector<study::TuneTask> tasks = study::tune_tasks(sweep, machine);
  const std::vector<study::TuneResult> results = [&] {
    Progress progress{"tuning"};
    return study::tune(tasks, machine, file, settings, options.jobs.workers(progress));
  }();
  print(table_text(results));
  const bool any = std::ranges::any_of(
      results, [](const auto& result) { return result.tuned.has_value(); });
  return any ? exit_ok : exit_bad_input;
}

int run(const TuneOptions& options) {
  if (options.list.empty()) return run_tune(options);
  for (const CLI::Option* other : options.app->get_options())
    if (other->count() > 0 && other->get_name() != "--list")
      throw fault_of("--list", fmt::format("excludes {}", other->get_name()),
                     "one of them");
  print(list_text(study::load_plan_cache(options.list)));
  return exit_ok;
}

}  // namespace

Command add_tune(CLI::App& root) {
  return make_command<TuneOptions>(
      root, "tune", "Search long for the fastest plans, and keep them in a plan cache",
      tune_footer, run, [](CLI::App& app, TuneOptions& options) {
        options.app = &app;
        add_options(app, options.job, false);
        app.get_option("--effort")
            ->description(
                "Effort of the search from each preset: fast, fixed, normal or high "
                "[high]");
        OptionGroup{app, "PROBLEMS"}.add(
            "--vary", "KEY=VALUES", options.vary,
            "Keys with several values; keys joined by & take the same");
        OptionGroup group{app, "TUNE"};
        group.add("--plan-cache", "FILE", options.plan_cache,
                  "The plan cache to write [$TILERAIL_PLAN_CACHE]");
        group.flag("--again", options.again, "Also problems that the file has");
        group.add("--backend", "NAME", options.backend,
                  "host or cuda: also run the best plan of each preset [fluid]");
        options.bench.add_to(group);
        options.jobs.add_to(app);
        OptionGroup{app, "INSTEAD"}.add("--list", "FILE", options.list,
                                        "Show the plans of a plan cache");
      });
}

}  // namespace tilerail::cli
