#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/note_text.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/prediction_text.hpp"
#include "cli/output/progress.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(One GPU: each model's own best tile, its time for that tile, and what 'simulate --tile' gives for it; 'policy' is what
'simulate' gives, and 'simulator' the best of these and of other tiles.
Several GPUs: what PARALiA's model predicts for all of them and for those that it would take for each metric, and what
the simulator gives for that plan; 'policy' is the plan of --policy.
Examples:
  tilerail predict --gemm 8K --topology cocopelia-testbed-2 --devices 0
  tilerail predict --gemm 16K --topology clx-ai --devices 0 --place h:0:h --model dr --json -
  tilerail predict --axpy 64M --topology cocopelia-testbed-2 --devices 0 --model bts
  tilerail predict --gemm 16K --topology clx-ai --place 0:1:2 --tile 2K
  tilerail simulate --gemm 8K --topology cocopelia-testbed-2 --devices 0 --set tile=dr)";

struct PredictOptions {
  study::PredictionText what;
  std::string json;
};

int run_predict(const PredictOptions& options) {
  OutputSet files;
  files.expect(options.json, "--json");
  const Topology topology = options.what.machine.load();
  const study::Prediction prediction = [&] {
    const Progress progress{"simulating"};
    return study::predict(options.what, topology);
  }();
  files.add(options.json, to_json(prediction, topology));
  files.finish(note_text(options.what.problem.place_note(topology)) + to_text(prediction, topology));
  return exit_ok;
}

}  // namespace

Command add_predict(CLI::App& root) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* app = root.add_subcommand("predict", "Predict a time, and a tile or devices, without planning");
  app->footer(footer);
  study::PredictionText& what = options->what;
  add_options(*app, what, false);
  OptionGroup model{*app, "MODEL"};
  model.add("--model", "NAME", what.model,
            fmt::format("One model only, of {}; {} is of several GPUs, the others of one",
                        fmt::join(study::prediction_models(), ", "), study::workload_model));
  OptionGroup{*app, "OUTPUT"}.add("--json", "FILE", options->json, "Result as JSON into a file, or - for stdout");
  return {app, [options] { return run_predict(*options); }};
}

}  // namespace tilerail::cli
