#pragma once

#include <cstddef>
#include <vector>

#include "calibration/measurements.hpp"

namespace tilerail {

/// Times of square products in f64 and f32 by the BLAS library with the threads that runs
/// with so many GPUs leave free, in about 2 s.
std::vector<CoreRun> measure_cores(size_t gpus);

}  // namespace tilerail
