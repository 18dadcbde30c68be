#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "backends/cuda/measure/counter_trace.hpp"
#include "backends/cuda/measure/power_meter.hpp"
#include "model/base/timer.hpp"

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
  double now() const { return timer_.seconds(); }
  /// By device, in the given order. Call it once.
  std::vector<CounterTrace> stop();

 private:
  void watch();
  void join();

  const PowerMeter& meter_;
  std::vector<int> devices_;
  std::vector<CounterTrace> traces_;
  Timer timer_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace tilerail::cuda
