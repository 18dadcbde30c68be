#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "calibration/measurements.hpp"

namespace tilerail {

struct CudaCalibrationOptions {
  int devices = 0;  // the first so many; 0: all
  double seconds =
      90;  // about what it may take; every figure is measured three times at least
  std::string name = "this-machine";
  std::function<void(std::string_view)> progress;  // told what comes next; may be empty
};

/// Measures CUDA devices and the links between them, used as plans use them
/// (docs/model.md#calibration): copies alone, in pairs, groups and both directions, of
/// several sizes and several in flight, packed and 2-D, on spread and plain host pages;
/// kernels of all types, shapes and loads, with the power drawn; device memory; what
/// handing over costs. A figure is repeated until the 95 % interval of its mean is within
/// 5 % or its share of the time is spent. The current device is left as found. Throws
/// HardwareError when there are not so many devices, InputError when host memory is
/// short, cuda::CudaError when a call fails.
Measurements measure_cuda_machine(const CudaCalibrationOptions& options = {});

}  // namespace tilerail
