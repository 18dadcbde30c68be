#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/machine/topology.hpp"

namespace tilerail {

struct HostCalibrationOptions {
  int devices = 0;  // 0: two, or one on a machine with one core
  int workers = 0;  // of each device; 0: the cores divided by the devices
  double budget_seconds =
      20;  // about what it takes; every figure is measured once at least
  std::function<double()>
      clock;  // seconds, that the budget is measured by; may be empty: a real one
  int64_t largest_gemm =
      2048;  // of the sizes 64, 128, ... that are measured; larger ones if time allows
  std::string name = "this-host";
  std::function<void(std::string_view)> progress;  // told what comes next; may be empty
  std::function<void(std::string_view)>
      warning;  // told what is not as certain as wanted; may be empty
};

/// Measures this machine as the HostExecutor uses it: GEMM times in f64 and f32 with all
/// workers busy, copies by role and by how many run at once, the loss of 2-D copies, the
/// cost of an empty operation and axpby. The result has the shape of host_machine(); the
/// equations are in docs/model.md#host-calibration. Figures are measured in turns until
/// the 95 % confidence interval of each is within 5 % or the budget is spent; the sources
/// state what was reached. Throws InputError when an option is out of range.
Topology::Description calibrate_host(const HostCalibrationOptions& options = {});

}  // namespace tilerail
