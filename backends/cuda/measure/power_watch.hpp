#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "backends/cuda/measure/counter_trace.hpp"
#include "backends/cuda/measure/power_meter.hpp"

namespace tilerail::cuda {

/// Reads the energy counters of devices every few milliseconds, in a separate thread,
/// from construction to stop().
class PowerWatch {
 public:
  PowerWatch(const PowerMeter& meter, std::vector<int> devices);
  ~PowerWatch();
  PowerWatch(const PowerWatch&) = delete;
  PowerWatch& operator=(const PowerWatch&) = delete;

  /// Seconds since construction: the time of the traces.
  double now() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  /// By device, in the given order. Call it once.
  std::vector<CounterTrace> stop();

 private:
  using Clock = std::chrono::steady_clock;
  void watch();
  void join();

  const PowerMeter& meter_;
  std::vector<int> devices_;
  std::vector<CounterTrace> traces_;
  Clock::time_point begin_ = Clock::now();
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace tilerail::cuda
