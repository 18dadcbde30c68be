#include "study/calibrate.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "backends/factory.hpp"
#include "backends/host/measure/calibrate.hpp"
#include "backends/host/measure/measure_cores.hpp"
#include "calibration/fit_topology.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/statistics.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail::study {
namespace {

void log_progress(std::string_view what) { spdlog::debug("measuring {}", what); }

void require_name(const std::optional<std::string>& name) {
  if (name && !is_name(*name))
    throw InputError{"name", *name, "is not a name", expected_name};
}

std::optional<ResidualSummary> summary_of(const std::vector<Residual>& residuals) {
  if (residuals.empty()) return std::nullopt;
  std::vector<double> errors;
  for (const Residual& r : residuals) errors.push_back(std::abs(r.error()));
  const Residual& worst =
      residuals[size_t(std::ranges::max_element(errors) - errors.begin())];
  return ResidualSummary{errors.size(), median(errors), quantile(errors, 0.95),
                         worst.error(), worst.what};
}

GpuCalibration fitted(const Measurements& measurements) {
  const Topology spread{fit_topology(measurements, HostPages::spread)};
  const Topology plain{fit_topology(measurements, HostPages::plain)};
  return {.spread = spread,
          .plain = plain,
          .spread_copies =
              summary_of(transfer_residuals(measurements, HostPages::spread, spread)),
          .plain_copies =
              summary_of(transfer_residuals(measurements, HostPages::plain, plain)),
          .kernels = summary_of(kernel_residuals(measurements, plain)),
          .measurements = to_json(measurements),
          .warnings = {}};
}

}  // namespace

HostCalibration calibrate_host(const CalibrationSettings& settings) {
  require_name(settings.name);
  HostCalibrationOptions options;
  options.devices = settings.devices.value_or(options.devices);
  options.workers = settings.workers.value_or(options.workers);
  options.cores = settings.cores;
  options.budget_seconds = settings.seconds.value_or(options.budget_seconds);
  options.name = settings.name.value_or(options.name);
  options.progress = log_progress;
  std::vector<std::string> warnings;
  options.warning = [&](std::string_view what) { warnings.emplace_back(what); };
  Topology machine{tilerail::calibrate_host(options)};
  return {std::move(machine), std::move(warnings)};
}

GpuCalibration calibrate_gpus(const CalibrationSettings& settings) {
  require_name(settings.name);
  CudaCalibrationOptions options;
  options.devices = settings.devices.value_or(options.devices);
  options.seconds = settings.seconds.value_or(options.seconds);
  options.name = settings.name.value_or(options.name);
  options.progress = log_progress;
  Measurements measurements = measure_gpus(options);
  if (settings.cores > 0) measurements.cores = measure_cores(measurements.devices.size());
  measurements.command = settings.command;
  GpuCalibration calibration = fitted(measurements);
  calibration.warnings = missed_targets(measurements);
  return calibration;
}

GpuCalibration recorded_gpus(const std::string& file,
                             const std::optional<std::string>& name) {
  require_name(name);
  Measurements measurements = measurements_from_json(read_file(file), file);
  if (name) measurements.machine = *name;
  return fitted(measurements);
}

}  // namespace tilerail::study
