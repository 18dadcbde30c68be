#pragma once

#include "backends/cuda/run/cuda_plan.hpp"
#include "backends/cuda/run/device.hpp"

namespace tilerail::cuda {

/// The same as CudaExecutor::run_single, on the plan's device.
CudaRunTimes run_single(CudaPlan& bound, Device& device, const Matrices& matrices,
                        bool own_stream);

}  // namespace tilerail::cuda
