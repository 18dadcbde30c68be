#include "report/compare/compare.hpp"

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/commands/compare_cases.hpp"
#include "cli/options/option_group.hpp"
#include "cli/output/output.hpp"
#include "model/base/error.hpp"
#include "report/timeline/timeline_csv.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(With --cases, each case of the file is planned, simulated and run; the difference is split along the measured critical
path, and cases of one group are ranked against each other.
Examples:
  tilerail compare --cases cases.csv --backend cuda --topology node.toml --csv results.csv
  tilerail compare predicted.csv measured.csv
  tilerail compare predicted.csv measured.csv --trace both.pftrace --gantt both.svg --json -)";

struct CompareOptions {
  std::string predicted, measured;
  OutputOptions output;
  CompareCasesOptions cases;
};

int run_compare(const CompareOptions& options) {
  const bool timelines = !options.predicted.empty() || !options.measured.empty();
  if (!options.cases.cases.empty()) {
    if (timelines) throw InputError{"--cases: excludes timelines to compare; give one or the other"};
    return compare_cases(options.cases);
  }
  if (options.predicted.empty() || options.measured.empty())
    throw InputError{"predicted, measured: two timelines are needed, or --cases FILE"};
  Outputs outputs{options.output, TraceKind::comparison};
  const AnnotatedTimeline predicted = load_timeline(options.predicted);
  const AnnotatedTimeline measured = load_timeline(options.measured);
  const Comparison comparison = compare(predicted, measured);
  outputs.write({{"predicted", &predicted}, {"measured", &measured}}, comparison_table(comparison),
                to_json(comparison));
  return exit_ok;
}

}  // namespace

Command add_compare(CLI::App& root) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* app = root.add_subcommand("compare", "Lay a predicted timeline over a measured one of the same plan");
  app->footer(footer);
  app->add_option("predicted", options->predicted, "Timeline CSV of the prediction");
  app->add_option("measured", options->measured, "Timeline CSV of the measurement");
  options->output.add_to(*app, TraceKind::comparison);
  CompareCasesOptions& cases = options->cases;
  OptionGroup group{*app, "CASES"};
  group.add("--cases", "FILE", cases.cases, "Problems and policies to simulate and to run (.csv)");
  group.add("--backend", "NAME", cases.backend, "Where to run them: host or cuda");
  group.add("--topology", "FILE|NAME", cases.topology, "The machine's .toml file or name");
  group.add("--csv", "FILE", cases.csv, "Write a line for each case");
  cases.bench.add_to(*app, group);
  app->add_flag("--no-simulate", cases.no_simulate, "Only measure")->group(group.heading);
  return {app, [options] { return run_compare(*options); }};
}

}  // namespace tilerail::cli
