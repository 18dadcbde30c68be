#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "calibration/measurements.hpp"

namespace tilerail {

/// Times of square products in f64 and f32 by the BLAS library with all its threads, on
/// data of this process, in about 2 s.
std::vector<CoreRun> measure_cores(const std::function<void(std::string_view)>& progress);

}  // namespace tilerail
