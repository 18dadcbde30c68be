#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail::study {

/// What is left out is the backend's own choice (backends/host/measure/calibrate.hpp,
/// backends/cuda/measure/measure.hpp).
struct CalibrationSettings {
  std::optional<int> devices, workers;  // workers: of each device of a host
  std::optional<double> seconds;        // about what it may take
  std::optional<std::string> name;      // of the machine
};

/// How far a description lies from what was measured; errors are relative.
struct ResidualSummary {
  size_t count = 0;
  double median = 0, within_95 = 0;  // sizes of errors
  double largest = 0;
  std::string what;  // has the largest
};

struct HostCalibration {
  Topology machine;
  std::vector<std::string> warnings;  // what is not as certain as wanted, a sentence each
};

struct GpuCalibration {
  Topology spread, plain;  // by how the pages of host buffers lie
  std::optional<ResidualSummary> spread_copies, plain_copies,
      kernels;               // absent where none was measured
  std::string measurements;  // JSON (docs/formats.md#measurements)
  std::vector<std::string> warnings;
};

/// Measures the threads and the memory of this computer. Throws InputError.
HostCalibration calibrate_host(const CalibrationSettings& settings);

/// Measures the GPUs of this computer. Throws InputError, and HardwareError where they,
/// or what drives them, are missing.
GpuCalibration calibrate_gpus(const CalibrationSettings& settings);

/// What the measurements in a file make of their machine, which gets another name where
/// one is given. Throws InputError.
GpuCalibration recorded_gpus(const std::string& file,
                             const std::optional<std::string>& name);

}  // namespace tilerail::study
