#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/measure/flow_meter.hpp"
#include "backends/cuda/measure/kernel_meter.hpp"
#include "backends/cuda/measure/power_meter.hpp"
#include "backends/cuda/measure/stopwatch.hpp"
#include "calibration/measurements.hpp"

namespace tilerail::cuda {

/// Measures one figure or several together. `run` calls the stopwatch once.
struct Task {
  std::string what;
  std::function<void(Stopwatch&)> run;
};

/// The devices and meters that all measurements use, their tasks and their results.
struct Bench {
  std::vector<std::unique_ptr<BenchDevice>>& devices;
  FlowMeter& flows;
  PowerMeter& power;
  Measurements& results;
  std::vector<Task> tasks = {};

  int count() const { return int(devices.size()); }
  static std::string name(int end) {
    return end == host_end ? "host" : "gpu" + std::to_string(end);
  }
};

/// Sides of kernels that are measured in parallel streams, and the number of streams:
/// about as many as in presets.
constexpr std::array<int64_t, 10> sides_side_by_side{256,  512,  640,  768,  1024,
                                                     1152, 1280, 1536, 2048, 3072};
constexpr int streams_side_by_side = 4;

void add_transfer_tasks(Bench& bench);
void add_kernel_tasks(Bench& bench);
void add_issue_tasks(Bench& bench);
void add_graph_tasks(Bench& bench);
/// Graphs of kernels of one type; the first device must contain numbers of this type.
void add_graph_kernel_tasks(Bench& bench, DType type);

}  // namespace tilerail::cuda
