#include "backends/host/calibrate.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/option_group.hpp"
#include "cli/output_set.hpp"
#include "cli/parse.hpp"
#include "cli/progress.hpp"
#include "cli/topo_show.hpp"
#include "model/error.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Example:
  tilerail calibrate --backend host --devices 2 -o machine.toml)";

struct CalibrateOptions {
  std::string backend, output, name = "this-host", devices = "auto", workers = "auto", seconds = "20";
};

int number_or_auto(const std::string& text, const std::string& what, int most) {
  return text == "auto" ? 0 : static_cast<int>(parse_integer(text, what, 1, most));
}

HostCalibrationOptions settings_of(const CalibrateOptions& options) {
  if (options.backend == "cuda") throw HardwareError{"--backend: this build has no CUDA backend"};
  if (options.backend != "host") {
    throw InputError{fmt::format("--backend: '{}' is no backend to calibrate; there are: host, cuda", options.backend)};
  }
  if (options.name.empty()) throw InputError{"--name: '' is no name of a machine"};
  HostCalibrationOptions settings;
  settings.devices = number_or_auto(options.devices, "--devices", 64);
  settings.workers = number_or_auto(options.workers, "--workers", 1024);
  settings.budget_seconds = parse_real(options.seconds, "--seconds");
  settings.name = options.name;
  return settings;
}

int run_calibrate(const CalibrateOptions& options) {
  HostCalibrationOptions settings = settings_of(options);
  OutputSet outputs;
  outputs.expect(options.output, "-o");
  const Topology::Description measured = [&] {
    const Progress progress{"calibrating"};
    settings.progress = [](std::string_view what) { spdlog::debug("measuring {}", what); };
    return calibrate_host(settings);
  }();
  outputs.add(options.output, to_toml(measured));
  outputs.commit();
  std::fputs(describe(Topology{measured}).c_str(), stdout);
  return exit_ok;
}

}  // namespace

Command add_calibrate(CLI::App& root) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* app = root.add_subcommand("calibrate", "Measure this machine and write its description");
  app->footer(footer);
  OptionGroup group{*app};
  group.add("--backend", "NAME", options->backend, "host: CPU threads and memory; cuda")->required();
  group.add("-o,--output", "FILE", options->output, "The .toml file to write")->required();
  group.add("--name", "NAME", options->name, "Name of the machine [this-host]");
  group.add("--devices", "N", options->devices, "Devices that its cores are shared by, or auto [auto]");
  group.add("--workers", "N", options->workers, "Threads of each device, or auto [auto]");
  group.add("--seconds", "X", options->seconds, "About what it may take [20]");
  return {app, [options] { return run_calibrate(*options); }};
}

}  // namespace tilerail::cli
