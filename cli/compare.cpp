#include "report/compare.hpp"

#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/timeline_csv.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  tilerail compare predicted.csv measured.csv
  tilerail compare predicted.csv measured.csv --trace both.pftrace --gantt both.svg --json -)";

struct CompareOptions {
  std::string predicted, measured;
  OutputOptions output;
};

int run_compare(const CompareOptions& options) {
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
  app->add_option("predicted", options->predicted, "Timeline CSV of the prediction")->required();
  app->add_option("measured", options->measured, "Timeline CSV of the measurement")->required();
  options->output.add_to(*app, TraceKind::comparison);
  return {app, [options] { return run_compare(*options); }};
}

}  // namespace tilerail::cli
