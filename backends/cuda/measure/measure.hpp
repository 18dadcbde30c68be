#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "calibration/measurements.hpp"

namespace tilerail {

struct CudaCalibrationOptions {
  int devices = 0;  // number of devices, from the first; 0: all
  double seconds =
      90;  // approximate duration; every figure is measured at least three times
  std::string name = "this-machine";
  std::function<void(std::string_view)> progress;  // receives each step; can be empty
};

/// Measures CUDA devices and the links between them, used as in plans
/// (docs/model.md#calibration): copies alone, in pairs, in groups and in both directions,
/// of several sizes and several in flight, packed and 2-D, on spread and plain host
/// pages; kernels of all types, shapes and loads, with their power; device memory; the
/// overhead of issuing. A figure is repeated until the 95 % interval of its mean is
/// within 5 % or its share of the time is spent. The current device is unchanged
/// afterwards. Throws HardwareError if there are too few devices, InputError if host
/// memory is too small, cuda::CudaError if a call fails.
Measurements measure_cuda_machine(const CudaCalibrationOptions& options = {});

}  // namespace tilerail
