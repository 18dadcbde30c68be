#include "cli/commands/cuda_calibrate.hpp"

#include <spdlog/spdlog.h>

#include "cli/output/progress.hpp"
#include "model/base/error.hpp"

#ifdef TILERAIL_HAVE_CUDA
#include "backends/cuda/measure/measure.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#endif

namespace tilerail::cli {

#ifdef TILERAIL_HAVE_CUDA

Measurements measure_cuda(const CudaCalibration& options) {
  CudaCalibrationOptions settings;
  settings.name = options.name, settings.devices = options.devices, settings.seconds = options.seconds;
  settings.progress = [](std::string_view what) { spdlog::debug("measuring {}", what); };
  const Progress progress{"calibrating"};
  try {
    return measure_cuda_machine(settings);
  } catch (const cuda::CudaError& error) {
    throw HardwareError{error.what()};
  }
}

#else

Measurements measure_cuda(const CudaCalibration&) { throw HardwareError{"--backend: this build has no CUDA backend"}; }

#endif

}  // namespace tilerail::cli
