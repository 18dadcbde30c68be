#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/interruption.hpp"
#include "cli/output/output.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_text.hpp"
#include "model/base/error.hpp"
#include "report/timeline/timeline_csv.hpp"
#include "study/cases/case_study.hpp"
#include "study/simulator.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* compare_footer =
    R"(With --cases, each case of the file is planned, simulated and run; the difference is split along the measured critical
path, and cases of one group are ranked against each other.
Examples:
  tilerail compare --cases cases.csv --backend cuda --topology node.toml --csv results.csv
  tilerail compare predicted.csv measured.csv
  tilerail compare predicted.csv measured.csv --trace both.json --gantt both.svg --json -)";

struct CompareOptions {
  std::string predicted, measured;
  OutputOptions output;
  std::string cases, csv, backend;
  study::MachineText machine;
  BenchOptions bench{.iterations = "5", .warmup = "2"};
  std::string plan_cache;
  bool no_simulate = false;
  const CLI::App* app = nullptr;
};

int compare_timelines(const CompareOptions& options) {
  if (options.predicted.empty() || options.measured.empty())
    throw missing("predicted, measured", "two timelines, or --cases FILE");
  Outputs outputs{options.output, TraceKind::comparison};
  const AnnotatedTimeline predicted = load_timeline(options.predicted);
  const AnnotatedTimeline measured = load_timeline(options.measured);
  const Comparison comparison =
      compare(predicted, measured, {options.predicted, options.measured});
  outputs.write({{comparison.sides[0], &predicted}, {comparison.sides[1], &measured}},
                comparison_table(comparison), to_json(comparison));
  return exit_ok;
}

/// Throws InputError for options that apply to two timelines only.
void refuse_what_cases_have_not(const CompareOptions& options) {
  for (const char* name : {"predicted", "measured", "--json", "--trace", "--gantt"})
    if (options.app->count(name) > 0)
      throw fault_of("cases", fmt::format("excludes {}", name), "one or the other");
}

int compare_cases(const CompareOptions& options) {
  refuse_what_cases_have_not(options);
  study::RunSettings settings = options.bench.settings(1, options.backend);
  if (options.backend.empty()) throw missing("backend", "host or cuda");
  study::require_backend(options.backend);
  OutputSet files;
  files.expect(options.csv, "--csv");
  const Topology topology = options.machine.load();
  const std::vector<study::Case> cases = study::read_cases(options.cases);
  const study::TunedPlans tuned{options.plan_cache, topology};
  const auto simulator =
      options.no_simulate ? nullptr : study::simulator_of(topology, settings);
  study::CaseStudy runs = [&] {
    const Progress progress{"planning"};
    return study::CaseStudy{cases, topology, tuned};
  }();
  if (simulator) {
    const Progress progress{"simulating"};
    runs.simulate(*simulator);
  }
  const StopRequest stop;
  settings.stop_asked = [&] { return stop.is_asked(); };
  runs.measure(options.backend, settings);
  const size_t done = runs.results().size();
  if (done > 0) {
    const std::string csv = csv_table(study::case_columns().json_rows(runs.results()));
    try {
      files.add(options.csv, csv);
      files.finish(to_text(runs.results()));
    } catch (const InputError&) {
      print(csv);  // save measurements if the disk is full
      throw;
    }
  }
  if (done < cases.size()) {
    const std::string progress =
        fmt::format("after {} of {} cases; {}", done, cases.size(),
                    done > 0 ? "the outputs contain these" : nothing_is_kept);
    runs.rethrow_failure();
    stop.end_program(progress);
  }
  return runs.passed() ? exit_ok : exit_check_failed;
}

int run_compare(const CompareOptions& options) {
  return options.cases.empty() ? compare_timelines(options) : compare_cases(options);
}

}  // namespace

Command add_compare(CLI::App& root) {
  return make_command<CompareOptions>(
      root, "compare", "Lay a predicted timeline over a measured one of the same plan",
      compare_footer, run_compare, [](CLI::App& app, CompareOptions& options) {
        options.app = &app;
        app.add_option("predicted", options.predicted, "Timeline CSV of the prediction");
        app.add_option("measured", options.measured, "Timeline CSV of the measurement");
        options.output.add_to(app, TraceKind::comparison);
        OptionGroup group{app, "CASES"};
        CLI::Option* const cases =
            group.add("--cases", "FILE", options.cases,
                      "Problems and policies to simulate and to run (.csv)");
        group.add("--backend", "NAME", options.backend,
                  "Where to run them: host or cuda");
        group.add("--topology", "FILE|NAME", options.machine.topology,
                  "The machine's .toml file or name");
        add_settings(group, options.machine);
        add_plan_cache(group, options.plan_cache);
        group.add("--csv", "FILE", options.csv, "Write a line for each case");
        options.bench.add_to(group);
        group.flag("--no-simulate", options.no_simulate, "Only measure");
        for (CLI::Option* option : app.get_options(
                 [&](const CLI::Option* o) { return o->get_group() == group.heading; }))
          if (option != cases) option->needs(cases);
      });
}

}  // namespace tilerail::cli
