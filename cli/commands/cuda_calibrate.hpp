#pragma once

#include <string>

#include "calibration/measurements.hpp"

namespace tilerail::cli {

struct CudaCalibration {
  std::string name;
  int devices = 0;  // 0: all
  double seconds = 0;
};

/// Measures this machine's CUDA devices. Throws HardwareError where there are none, or this build cannot use them.
Measurements measure_cuda(const CudaCalibration& options);

}  // namespace tilerail::cli
