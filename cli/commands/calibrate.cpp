#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>

#include "backends/factory.hpp"
#include "backends/host/measure/calibrate.hpp"
#include "calibration/fit_topology.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/output/machine_text.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/parse.hpp"
#include "model/base/text.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/topology_check.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/residuals.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(With --backend cuda, FILE describes host buffers that are spread over all memory, and FILE with -plain before its
extension those that the runtime allocates. --from makes both again from recorded measurements, without the hardware.
Examples:
  tilerail calibrate --backend host --devices 2 -o machine.toml
  tilerail calibrate --backend cuda --name node --measurements node.json -o node.toml
  tilerail calibrate --backend cuda --from node.json -o node.toml)";

struct CalibrateOptions {
  std::string backend, output, devices = "auto", workers = "auto", seconds = "auto";
  std::string measurements, from;
  std::optional<std::string> name;
};

int number_or_auto(const std::string& text, const std::string& what, int most) {
  return text == "auto" ? 0 : static_cast<int>(parse_integer(text, what, 1, most));
}

double seconds_of(const CalibrateOptions& options, double otherwise) {
  return options.seconds == "auto" ? otherwise : parse_real(options.seconds, "--seconds");
}

/// When the result is out, so that it says something of what is there.
void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

int calibrate_on_host(const CalibrateOptions& options) {
  for (const auto& [name, text] : {std::pair{"--measurements", &options.measurements}, {"--from", &options.from}})
    if (!text->empty()) throw InputError{fmt::format("{}: has no meaning with --backend host", name)};
  HostCalibrationOptions settings;
  settings.devices = number_or_auto(options.devices, "--devices", 64);
  settings.workers = number_or_auto(options.workers, "--workers", 1024);
  settings.budget_seconds = seconds_of(options, 20);
  settings.name = options.name.value_or("this-host");
  OutputSet outputs;
  outputs.expect(options.output, "-o");
  std::vector<std::string> warnings;
  const Topology::Description measured = [&] {
    const Progress progress{"calibrating"};
    settings.progress = [](std::string_view what) { spdlog::debug("measuring {}", what); };
    settings.warning = [&](std::string_view what) { warnings.emplace_back(what); };
    return calibrate_host(settings);
  }();
  outputs.add(options.output, to_toml(measured));
  outputs.finish(describe(Topology{measured}));
  warn(warnings);
  return exit_ok;
}

Measurements measured_or_read(const CalibrateOptions& options) {
  if (!options.from.empty()) {
    Measurements recorded = measurements_from_json(read_file(options.from), options.from);
    if (options.name) recorded.machine = *options.name;
    return recorded;
  }
  CudaCalibrationOptions settings;
  settings.name = options.name.value_or("this-machine");
  settings.devices = number_or_auto(options.devices, "--devices", 64);
  settings.seconds = seconds_of(options, 200);
  settings.progress = [](std::string_view what) { spdlog::debug("measuring {}", what); };
  Measurements measured = [&] {
    const Progress progress{"calibrating"};
    return measure_gpus(settings);
  }();
  measured.command = fmt::format("tilerail calibrate --backend cuda --name {} --devices {} --seconds {:g}",
                                 settings.name, measured.devices.size(), settings.seconds);
  return measured;
}

std::string residual_line(const char* what, const std::vector<Residual>& residuals) {
  if (residuals.empty()) return "";
  const study::ResidualSummary summary = study::summary_of(residuals);
  return fmt::format("{} {}: median error {:.1f}%, 95% within {:.1f}%, largest {:+.1f}% ({})\n", summary.count, what,
                     100 * summary.median, 100 * summary.within_95, 100 * summary.worst.error(), summary.worst.what);
}

/// "dir/node.toml" -> "dir/node-plain.toml".
std::string plain_name(const std::string& path) {
  const auto slash = path.rfind('/'), dot = path.rfind('.');
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return extension ? path.substr(0, dot) + "-plain" + path.substr(dot) : path + "-plain";
}

int calibrate_on_cuda(const CalibrateOptions& options) {
  if (options.workers != "auto") throw InputError{"--workers: has no meaning with --backend cuda"};
  OutputSet outputs;
  if (options.output == "-") throw InputError{"-o: '-' is one place, and there are two descriptions; expected a file"};
  const std::string plain = plain_name(options.output);
  outputs.expect(options.output, "-o"), outputs.expect(plain, "-o");
  outputs.expect(options.measurements, "--measurements");
  const Measurements measurements = measured_or_read(options);
  std::string text;
  for (const HostPages pages : {HostPages::spread, HostPages::plain}) {
    const Topology topology{fit_topology(measurements, pages)};
    const bool spread = pages == HostPages::spread;
    outputs.add(spread ? options.output : plain, to_toml(topology.description()));
    if (spread) text = describe(topology) + "\nWhat the description says of what was measured\n";
    text += fmt::format("{} host pages: ", spread ? "spread" : "plain");
    text += residual_line("runs of copies", transfer_residuals(measurements, pages, topology));
    if (!spread) text += residual_line("kernels", kernel_residuals(measurements, topology));
  }
  outputs.add(options.measurements, to_json(measurements));
  outputs.finish(text);
  if (options.from.empty()) warn(missed_targets(measurements));
  return exit_ok;
}

int run_calibrate(const CalibrateOptions& options) {
  if (options.name && !is_name(*options.name))
    throw InputError{fmt::format("--name: {} is no name; expected {}", in_quotes(*options.name), expected_name)};
  if (options.backend == "host") return calibrate_on_host(options);
  if (options.backend == "cuda") return calibrate_on_cuda(options);
  throw InputError{fmt::format("--backend: '{}' is no backend to calibrate; there are: host, cuda", options.backend)};
}

}  // namespace

Command add_calibrate(CLI::App& root) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* app = root.add_subcommand("calibrate", "Measure this machine and write its description");
  app->footer(footer);
  OptionGroup group{*app};
  group.add("--backend", "NAME", options->backend, "host: CPU threads and memory; cuda: GPUs")->required();
  group.add("-o,--output", "FILE", options->output, "The .toml file to write")->required();
  group.add("--name", "NAME", options->name, "Name of the machine [this-host or this-machine]");
  group.add("--devices", "N", options->devices,
            "host: devices that its cores are shared by; cuda: the first N GPUs; or auto [auto]");
  group.add("--workers", "N", options->workers, "host: threads of each device, or auto [auto]");
  group.add("--seconds", "X", options->seconds, "About what it may take [host: 20, cuda: 200]");
  group.add("--measurements", "FILE", options->measurements, "cuda: also write what was measured (.json)");
  group.add("--from", "FILE", options->from, "cuda: take measurements from this file instead of the hardware");
  return {app, [options] { return run_calibrate(*options); }};
}

}  // namespace tilerail::cli
