#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <variant>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_text.hpp"
#include "model/base/text.hpp"
#include "study/predict/prediction.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* predict_footer =
    R"(One GPU: each model's best tile, its time for that tile, and the time of 'simulate --tile'; 'policy' is the time of
'simulate', and 'simulator' the best of these and of other tiles.
Several GPUs: the prediction of PARALiA's model for all GPUs and for its selection by each metric, and the simulation
of that plan; 'policy' is the plan of --policy.
Examples:
  tilerail predict --gemm 8K --topology cocopelia-testbed-2 --devices 0
  tilerail predict --gemm 16K --topology clx-ai --devices 0 --place h:0:h --json -
  tilerail predict --axpy 64M --topology cocopelia-testbed-2 --devices 0
  tilerail predict --gemm 16K --topology clx-ai --place 0:1:2 --tile 2K
  tilerail simulate --gemm 8K --topology cocopelia-testbed-2 --devices 0 --tile dr)";

struct PredictOptions {
  study::JobText what;
  std::string json;
};

using study::WorkloadPrediction;

std::string note_of(const study::OverlapPrediction&, const Topology&) { return {}; }
std::string note_of(const WorkloadPrediction& prediction, const Topology& topology) {
  return fmt::format("{} counts kernels and transfers of tiles of {}\n",
                     study::workload_model, prediction.tile) +
         (prediction.has_watts
              ? ""
              : fmt::format("no metrics of energy: {} has no watts of its GPUs\n",
                            topology.name()));
}

Json head_of(const study::OverlapPrediction& prediction) {
  const auto transfer = [](const TransferTime& t) {
    return Json{{"latency_s", t.latency.value},
                {"bytes_per_s", inverse(t.per_byte).value},
                {"slowdown", t.slowdown}};
  };
  return {{"schema", 1},
          {"h2d", transfer(prediction.h2d)},
          {"d2h", transfer(prediction.d2h)}};
}

Json head_of(const WorkloadPrediction& prediction) {
  return {{"schema", 1}, {"model", study::workload_model}, {"tile", prediction.tile}};
}

int run_predict(const PredictOptions& options) {
  OutputSet files;
  files.expect(options.json, "--json");
  const Topology topology = options.what.machine.load();
  const study::Prediction prediction = [&] {
    const Progress progress{"simulating"};
    return study::predict(options.what, topology);
  }();
  std::visit(
      [&](const auto& of) {
        const auto columns = columns_of(of, topology);
        Json json = head_of(of);
        json["predictions"] = columns.json_rows(of.choices);
        files.add(options.json, json.dump(2) + "\n");
        files.finish(note_text(options.what.problem.place_note(topology)) +
                     aligned(columns.lines(of.choices), "lr") + note_of(of, topology));
      },
      prediction);
  return exit_ok;
}

}  // namespace

Command add_predict(CLI::App& root) {
  return make_command<PredictOptions>(
      root, "predict", "Predict a time, and a tile or devices, without planning",
      predict_footer, run_predict, [](CLI::App& app, PredictOptions& options) {
        add_options(app, options.what, false);
        OptionGroup{app, "OUTPUT"}.add("--json", "FILE", options.json,
                                       "Result as JSON into a file, or - for stdout");
      });
}

}  // namespace tilerail::cli
