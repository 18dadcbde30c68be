#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/commands/predict.hpp"
#include "cli/options/option_group.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/error.hpp"
#include "model/published/overlap_models.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(One GPU: each model's own best tile, its time for that tile, and what the simulator gives for it; 'simulator' is the
best of all these tiles and of the policy's choice.
Several GPUs: what PARALiA's model predicts for all of them and for those that it would take for each metric, and what
the simulator gives for that plan; 'policy' is the plan of --policy.
Examples:
  tilerail predict --gemm 8K --topology cocopelia-testbed-2 --devices 0
  tilerail predict --gemm 8K --topology machine.toml --devices 0 --transfers-in h2d.csv --transfers-out d2h.csv
  tilerail predict --gemm 16K --topology clx-ai --devices 0 --place h:0:h --model dr --json -
  tilerail predict --axpy 64M --topology cocopelia-testbed-2 --devices 0 --model bts
  tilerail predict --gemm 16K --topology clx-ai --place 0:1:2 --tile 2K
  tilerail predict --gemm 16K --topology clx-ai --devices 0-3 --link-map measured.csv
  tilerail simulate --gemm 8K --topology cocopelia-testbed-2 --devices 0 --tile auto:dr)";

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const OverlapModel model : overlap_models) names.emplace_back(to_string(model));
  names.emplace_back(workload_model);
  return names;
}

void check_model(const std::string& name) {
  const std::vector<std::string> names = model_names();
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    throw InputError{fmt::format("--model: '{}' is no model; there are: {}", name, fmt::join(names, ", "))};
}

/// Whether the workload model is asked for. Refuses what the models of so many GPUs do not know.
bool is_workload(const PredictOptions& options, const GemmProblem& problem, std::size_t devices) {
  const bool workload = options.model.empty() ? devices > 1 : options.model == workload_model;
  if (!workload && devices > 1)
    throw InputError{fmt::format("--model: '{}' is a model of one GPU; {} are given; expected {}, or one of --devices",
                                 options.model, devices, workload_model)};
  if (workload && problem.routine != Routine::gemm)
    throw InputError{fmt::format("--{}: {} predicts GEMMs; expected --gemm, or one of --devices",
                                 to_string(problem.routine), workload_model)};
  if (workload && !(options.transfers_in.empty() && options.transfers_out.empty()))
    throw InputError{fmt::format("--transfers-{}: is for models of one GPU; expected --link-map, or one of --devices",
                                 options.transfers_in.empty() ? "out" : "in")};
  if (!workload && !options.link_map.empty())
    throw InputError{
        fmt::format("--link-map: is for --model {}; this model of one GPU expects --transfers-in and "
                    "--transfers-out",
                    workload_model)};
  return workload;
}

int run_predict(const PredictOptions& options) {
  OutputSet files;
  const bool to_file = !options.json.empty() && options.json != "-";
  if (to_file) files.expect(options.json, "--json");
  check_model(options.model);
  const Topology topology = options.machine.load();
  const GemmProblem problem = options.problem.resolve(topology);
  const std::vector<MemoryId> devices = options.machine.resolve_devices(topology);
  if (devices.empty())
    throw InputError{fmt::format("--devices: {} has no GPU; expected at least one", topology.name())};
  if (problem.m == 0 || problem.n == 0 || problem.k == 0 || problem.alpha == 0)
    throw InputError{
        fmt::format("--{}: nothing to multiply; expected sizes and an alpha other than 0", to_string(problem.routine))};
  const PredictionReport report = is_workload(options, problem, devices.size())
                                      ? predict_workload(options, topology, problem, devices)
                                      : predict_overlap(options, topology, problem, devices[0]);
  const std::string json = report.json.dump(2) + "\n";
  if (to_file) files.add(options.json, json);
  files.commit();
  std::fputs((options.json == "-" ? json : report.text).c_str(), stdout);
  return exit_ok;
}

}  // namespace

Command add_predict(CLI::App& root) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* app = root.add_subcommand("predict", "Predict a time, and a tile or devices, without planning");
  app->footer(footer);
  add_options(*app, options->problem);
  add_options(*app, options->machine);
  add_options(*app, options->policy);
  OptionGroup model{*app, "MODEL"};
  model.add("--model", "NAME", options->model,
            fmt::format("One model only, of {}; {} is of several GPUs, the others of one",
                        fmt::join(model_names(), ", "), workload_model));
  model.add("--transfers-in", "FILE", options->transfers_in,
            "Measured copies from the host to the GPU (.csv), for the models of one GPU instead of the topology's");
  model.add("--transfers-out", "FILE", options->transfers_out, "The same from the GPU to the host");
  model.add("--link-map", "FILE", options->link_map,
            "Measured links and slowdowns (.csv), for paralia instead of the topology's");
  OptionGroup{*app, "OUTPUT"}.add("--json", "FILE", options->json, "Result as JSON into a file, or - for stdout");
  return {app, [options] { return run_predict(*options); }};
}

}  // namespace tilerail::cli
