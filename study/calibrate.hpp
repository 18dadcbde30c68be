#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail::study {

/// Unset fields are chosen by the backend (backends/host/measure/calibrate.hpp,
/// backends/cuda/measure/measure.hpp).
struct CalibrationSettings {
  std::optional<int> devices, workers;  // workers: of each device of a host
  /// Host backend: number of threads that compute on host memory, in addition to the
  /// devices. GPUs: above 0, the cores of the host are measured, too.
  int cores = 0;
  std::optional<double> seconds;    // approximate duration
  std::optional<std::string> name;  // of the machine
  std::string command;              // recorded with the measurements of GPUs
};

/// Relative errors of a description against its measurements.
struct ResidualSummary {
  size_t count = 0;
  double median = 0, within_95 = 0;  // absolute values
  double largest = 0;
  std::string what;  // the measurement with the largest error
};

struct HostCalibration {
  Topology machine;
  std::vector<std::string> warnings;  // uncertain results, a sentence each
};

struct GpuCalibration {
  Topology spread, plain;  // by the pages of host buffers
  std::optional<ResidualSummary> spread_copies, plain_copies,
      kernels;               // absent if not measured
  std::string measurements;  // JSON (docs/formats.md#measurements)
  std::vector<std::string> warnings;
};

/// Measures the threads and the memory of this computer. Throws InputError.
HostCalibration calibrate_host(const CalibrationSettings& settings);

/// Measures the GPUs of this computer. Throws InputError, and HardwareError if the GPUs
/// or their driver are missing.
GpuCalibration calibrate_gpus(const CalibrationSettings& settings);

/// The description fitted to the measurements in a file, under `name` if given. Throws
/// InputError.
GpuCalibration recorded_gpus(const std::string& file,
                             const std::optional<std::string>& name);

}  // namespace tilerail::study
