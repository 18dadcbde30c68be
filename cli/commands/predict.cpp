#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_text.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "plan/json.hpp"
#include "study/predict/prediction.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(One GPU: each model's best tile, its time for that tile, and the time of 'simulate --tile'; 'policy' is the time of
'simulate', and 'simulator' the best of these and of other tiles.
Several GPUs: the prediction of PARALiA's model for all GPUs and for its selection by each metric, and the simulation
of that plan; 'policy' is the plan of --policy.
Examples:
  tilerail predict --gemm 8K --topology cocopelia-testbed-2 --devices 0
  tilerail predict --gemm 16K --topology clx-ai --devices 0 --place h:0:h --model dr --json -
  tilerail predict --axpy 64M --topology cocopelia-testbed-2 --devices 0 --model bts
  tilerail predict --gemm 16K --topology clx-ai --place 0:1:2 --tile 2K
  tilerail simulate --gemm 8K --topology cocopelia-testbed-2 --devices 0 --tile dr)";

struct PredictOptions {
  study::PredictionText what;
  std::string json;
};

using study::WorkloadPrediction;

/// A JSON value as a table cell, with the unit from the suffix of its key.
std::string cell_text(const std::string& key, const Json& value) {
  if (value.is_null()) return "-";
  if (key.ends_with("_s")) return seconds_text(value);
  if (key.ends_with("_j")) return joules_text(value);
  if (!value.is_array())
    return value.is_string() ? value.get<std::string>() : value.dump();
  std::vector<std::string> items;
  for (const Json& item : value)
    items.push_back(item.is_string() ? item.get<std::string>() : share_text(item));
  return fmt::format("{}", fmt::join(items, ","));
}

/// A row per prediction, under a header of the keys without units.
std::string predictions_text(const Json& predictions) {
  Lines lines(1);
  for (const auto& [key, _] : predictions.front().items()) {
    std::string heading =
        key.ends_with("_s") || key.ends_with("_j") ? key.substr(0, key.size() - 2) : key;
    std::ranges::replace(heading, '_', ' ');
    lines.front().push_back(heading);
  }
  for (const Json& prediction : predictions) {
    lines.emplace_back();
    for (const auto& [key, value] : prediction.items())
      lines.back().push_back(cell_text(key, value));
  }
  return aligned(lines, "lr");
}

std::string note_of(const WorkloadPrediction& prediction, const Topology& topology) {
  return fmt::format("{} counts kernels and transfers of tiles of {}\n",
                     study::workload_model, prediction.tile) +
         (prediction.has_watts
              ? ""
              : fmt::format("no metrics of energy: {} has no watts of its GPUs\n",
                            topology.name()));
}

Json json_of(const study::OverlapPrediction& prediction, const Topology&) {
  const auto transfer = [](const TransferTime& t) {
    return Json{{"latency_s", t.latency.value},
                {"bytes_per_s", inverse(t.per_byte).value},
                {"slowdown", t.slowdown}};
  };
  Json json{{"schema", 1},
            {"h2d", transfer(prediction.h2d)},
            {"d2h", transfer(prediction.d2h)}};
  const auto add = [&](std::string_view model, const study::TilePrediction& p) {
    json["predictions"].push_back({{"model", model},
                                   {"tile", p.tile},
                                   {"predicted_s", or_null(p.predicted)},
                                   {"simulated_s", or_null(p.simulated)}});
  };
  for (const auto& [model, tile] : prediction.of_models) add(to_string(model), tile);
  add("policy", prediction.of_policy);
  add("simulator", prediction.fastest);
  return json;
}

Json json_of(const WorkloadPrediction& prediction, const Topology& topology) {
  Json json{{"schema", 1}, {"model", study::workload_model}, {"tile", prediction.tile}};
  const auto add = [&](std::string_view choice, const study::DevicePrediction& p) {
    std::vector<std::string> names;
    for (const MemoryId device : p.devices) names.push_back(topology.memory(device).name);
    json["predictions"].push_back(
        {{"choice", choice},
         {"devices", names},
         {"shares", p.shares.empty() ? nullptr : Json(p.shares)},
         {"predicted_s", or_null(p.predicted_s)},
         {"predicted_energy_j", or_null(p.predicted_j)},
         {"tile", p.tile},
         {"simulated_s", p.simulated_s},
         {"simulated_energy_j", or_null(p.simulated_j)}});
  };
  add("all", prediction.of_all);
  for (const auto& [metric, devices] : prediction.of_metrics) add(metric->name, devices);
  add("policy", prediction.of_policy);
  return json;
}

int run_predict(const PredictOptions& options) {
  OutputSet files;
  files.expect(options.json, "--json");
  const Topology topology = options.what.machine.load();
  const study::Prediction prediction = [&] {
    const Progress progress{"simulating"};
    return study::predict(options.what, topology);
  }();
  const Json json =
      std::visit([&](const auto& each) { return json_of(each, topology); }, prediction);
  const auto* const workload = std::get_if<WorkloadPrediction>(&prediction);
  files.add(options.json, json.dump(2) + "\n");
  files.finish(note_text(options.what.problem.place_note(topology)) +
               predictions_text(json["predictions"]) +
               (workload ? note_of(*workload, topology) : ""));
  return exit_ok;
}

}  // namespace

Command add_predict(CLI::App& root) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* app = root.add_subcommand(
      "predict", "Predict a time, and a tile or devices, without planning");
  app->footer(footer);
  study::PredictionText& what = options->what;
  add_options(*app, what, false);
  OptionGroup model{*app, "MODEL"};
  model.add(
      "--model", "NAME", what.model,
      fmt::format("One model only, of {}; {} is for several GPUs, the others for one",
                  fmt::join(study::prediction_models(), ", "), study::workload_model));
  OptionGroup{*app, "OUTPUT"}.add("--json", "FILE", options->json,
                                  "Result as JSON into a file, or - for stdout");
  return {app, [options] { return run_predict(*options); }};
}

}  // namespace tilerail::cli
