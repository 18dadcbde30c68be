#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/machine_text.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_text.hpp"
#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/calibrate.hpp"
#include "study/cases/calibration_check.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* calibrate_footer =
    R"(With --backend cuda, FILE describes host buffers spread over all memory, and a second file, with -plain before the
extension, host buffers as the runtime allocates them. --from repeats both from recorded measurements, without hardware.
Examples:
  tilerail calibrate --backend host --devices 2 -o machine.toml --check
  tilerail calibrate --backend cuda --name node --measurements node.json -o node.toml
  tilerail calibrate --backend cuda --from node.json -o node.toml)";

struct CalibrateOptions {
  std::string backend, output, devices = "auto", workers = "auto", cores = "0",
                               seconds = "auto";
  std::string measurements, from;
  std::optional<std::string> name;
  bool check = false;
  const CLI::App* app = nullptr;
};

/// Nullopt for "auto".
std::optional<int> number_of(const std::string& text, const std::string& what, int most) {
  if (text == "auto") return std::nullopt;
  return int(parse_integer(text, what, 1, most));
}

study::CalibrationSettings settings_of(const CalibrateOptions& options) {
  study::CalibrationSettings settings;
  settings.devices = number_of(options.devices, "devices", 64);
  settings.workers = number_of(options.workers, "workers", 1024);
  settings.cores = int(parse_integer(options.cores, "cores", 0, 1024));
  if (options.seconds != "auto")
    settings.seconds = parse_real(options.seconds, "seconds");
  constexpr double most_seconds = 3600;
  if (settings.seconds && !(*settings.seconds >= 0 && *settings.seconds <= most_seconds))
    throw out_of_range("seconds", options.seconds,
                       fmt::format("0 to {:g}", most_seconds));
  settings.name = options.name;
  settings.command = command_of("tilerail calibrate", *options.app);
  return settings;
}

/// Throws InputError if the option is given, because it has no meaning with `other`.
void refuse(const CalibrateOptions& options, const std::string& name, const char* other) {
  if (options.app->count("--" + name) > 0)
    throw fault_of(name, fmt::format("has no meaning with {}", other));
}

/// Call this after the output: warnings refer to its contents.
void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

/// Call this after the output: the check does not change the description.
int check(const Topology& machine, const CalibrateOptions& options) {
  if (!options.check) return exit_ok;
  const std::vector<study::CaseResult> results = [&] {
    const Progress progress{"checking"};
    return study::checked_description(machine, options.backend);
  }();
  print(fmt::format("\n{} plans, predicted by the description and run\n{}",
                    results.size(), to_text(results)));
  const bool failed =
      std::ranges::any_of(results, [](const auto& result) { return result.failed(); });
  return failed ? exit_check_failed : exit_ok;
}

int calibrate_on_host(const CalibrateOptions& options) {
  for (const char* name : {"measurements", "from"})
    refuse(options, name, "--backend host");
  const study::CalibrationSettings settings = settings_of(options);
  OutputSet outputs;
  outputs.expect(options.output, "-o");
  const study::HostCalibration host = [&] {
    const Progress progress{"calibrating"};
    return study::calibrate_host(settings);
  }();
  outputs.add(options.output, to_toml(host.machine.description()));
  outputs.finish(describe(host.machine));
  warn(host.warnings);
  return check(host.machine, options);
}

study::GpuCalibration measured_or_recorded(const CalibrateOptions& options) {
  if (!options.from.empty()) return study::recorded_gpus(options.from, options.name);
  const study::CalibrationSettings settings = settings_of(options);
  const Progress progress{"calibrating"};
  return study::calibrate_gpus(settings);
}

std::string line_of(const char* what,
                    const std::optional<study::ResidualSummary>& residuals) {
  if (!residuals) return "";
  return fmt::format(
      "{} {}: median error {:.1f}%, 95% within {:.1f}%, largest {:+.1f}% ({})\n",
      residuals->count, what, 100 * residuals->median, 100 * residuals->within_95,
      100 * residuals->largest, residuals->what);
}

/// "dir/node.toml" -> "dir/node-plain.toml"
std::string plain_name(const std::string& path) {
  const std::filesystem::path spread{path};
  const std::string name =
      spread.stem().string() + "-plain" + spread.extension().string();
  return (spread.parent_path() / name).string();
}

int calibrate_on_cuda(const CalibrateOptions& options) {
  refuse(options, "workers", "--backend cuda");
  if (!options.from.empty())
    for (const char* name : {"check", "devices", "cores", "seconds"})
      refuse(options, name, "--from");
  OutputSet outputs;
  if (options.output == "-")
    throw InputError{"-o", "-", "cannot contain two descriptions", "a file"};
  outputs.expect(options.output, "-o");
  const std::string plain = plain_name(options.output);
  outputs.expect(plain, "-o");
  outputs.expect(options.measurements, "--measurements");
  const study::GpuCalibration gpus = measured_or_recorded(options);
  outputs.add(options.output, to_toml(gpus.spread.description()));
  outputs.add(plain, to_toml(gpus.plain.description()));
  outputs.add(options.measurements, gpus.measurements);
  outputs.finish(describe(gpus.spread) +
                 "\nErrors of the description for the measured copies\n" +
                 "spread host pages: " + line_of("runs of copies", gpus.spread_copies) +
                 "plain host pages: " + line_of("runs of copies", gpus.plain_copies) +
                 line_of("kernels", gpus.kernels));
  warn(gpus.warnings);
  return check(gpus.spread, options);
}

int run_calibrate(const CalibrateOptions& options) {
  if (options.backend == "host") return calibrate_on_host(options);
  if (options.backend == "cuda") return calibrate_on_cuda(options);
  throw InputError{"backend", options.backend, "is not a backend to calibrate",
                   "host or cuda"};
}

}  // namespace

Command add_calibrate(CLI::App& root) {
  return make_command<CalibrateOptions>(
      root, "calibrate", "Measure this machine and write its description",
      calibrate_footer, run_calibrate, [](CLI::App& app, CalibrateOptions& options) {
        options.app = &app;
        const OptionGroup group{app};
        group
            .add("--backend", "NAME", options.backend,
                 "host: CPU threads and memory; cuda: GPUs")
            ->required();
        group.add("-o,--output", "FILE", options.output, "The .toml file to write")
            ->required();
        group.add("--name", "NAME", options.name,
                  "Name of the machine [this-host or this-machine]");
        group.add(
            "--devices", "N", options.devices,
            "host: devices that share its cores; cuda: the first N GPUs; or auto [auto]");
        group.add("--workers", "N", options.workers,
                  "host: threads of each device, or auto [auto]");
        group.add("--cores", "N", options.cores,
                  "host: threads that compute on its memory, beside the devices [0]");
        group.add("--seconds", "X", options.seconds,
                  "Approximate duration [host: 20, cuda: 90]");
        group.flag("--check", options.check,
                   "Then predict and run about ten plans, and print the errors");
        group.add("--measurements", "FILE", options.measurements,
                  "cuda: also write the measurements (.json)");
        group.add("--from", "FILE", options.from,
                  "cuda: take measurements from this file instead of the hardware");
      });
}

}  // namespace tilerail::cli
