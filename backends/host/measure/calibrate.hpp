#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/machine/topology.hpp"

namespace tilerail {

struct HostCalibrationOptions {
  int devices = 0;  // 0: two, or one on a machine with one core
  int workers = 0;  // per device; 0: the cores divided by the devices
  int cores = 0;    // threads that compute on the host's memory, beside the devices
  double budget_seconds =
      20;  // approximate duration; every figure is measured at least once
  std::function<double()> clock;  // seconds, for the budget; default: the real clock
  int64_t largest_gemm =
      2048;  // largest of the sizes 64, 128, ...; sizes above 256 only if time permits
  std::string name = "this-host";
  std::function<void(std::string_view)> progress;  // receives each step; can be empty
  std::function<void(std::string_view)>
      warning;  // receives figures that miss the target interval; can be empty
};

/// Measures this machine as the HostExecutor uses it: GEMM times in f64 and f32 with all
/// workers busy, copies by role and by the number of simultaneous copies, the loss of 2-D
/// copies, the overhead of an empty operation and axpby. The result has the shape of
/// host_machine(); equations: docs/model.md#host-calibration. Figures are measured in
/// turns until the 95 % confidence interval of each is within 5 % or the budget is spent;
/// the sources contain the reached intervals. Throws InputError if an option is out of
/// range.
Topology::Description calibrate_host(const HostCalibrationOptions& options = {});

}  // namespace tilerail
