#pragma once

#include <memory>
#include <string_view>

#include "backends/cuda/measure/measure.hpp"
#include "backends/real_executor.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The executor "sim", "host" or "cuda" on this machine. Throws InputError for other
/// names, listing the valid ones; HardwareError if this build or this computer lacks a
/// requirement.
std::unique_ptr<Executor> make_executor(std::string_view name, const Topology& topology);

/// "host" or "cuda". Throws the same errors.
std::unique_ptr<RealExecutor> make_real_executor(std::string_view name,
                                                 const Topology& topology);

/// Throws the errors of `make_real_executor` for this name and this build.
void require_real_executor(std::string_view name);

/// measure_cuda_machine. Also throws HardwareError in a build without CUDA.
Measurements measure_gpus(const CudaCalibrationOptions& options);

}  // namespace tilerail
