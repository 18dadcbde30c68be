#pragma once

#include <memory>
#include <string_view>

#include "backends/cuda/measure/measure.hpp"
#include "backends/real_executor.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The executor of that name on this machine: "sim", "host" or "cuda". Throws InputError
/// for other names, naming those there are; HardwareError where this build, or this
/// computer, has not what it needs.
std::unique_ptr<Executor> make_executor(std::string_view name, const Topology& topology);

/// Of "host" and "cuda". The same errors.
std::unique_ptr<RealExecutor> make_real_executor(std::string_view name,
                                                 const Topology& topology);

/// Throws what `make_real_executor` would throw of the name and of this build.
void require_real_executor(std::string_view name);

/// measure_cuda_machine. Throws HardwareError in a build without CUDA, too.
Measurements measure_gpus(const CudaCalibrationOptions& options);

}  // namespace tilerail
