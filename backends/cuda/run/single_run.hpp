#pragma once

#include "backends/cuda/run/cuda_plan.hpp"
#include "backends/cuda/run/device.hpp"

namespace tilerail::cuda {

/// As CudaExecutor::run_single; `device` is that of the plan.
CudaRunTimes run_single(CudaPlan& bound, Device& device, const Matrices& matrices,
                        bool own_stream);

}  // namespace tilerail::cuda
