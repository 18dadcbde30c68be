#pragma once

#include <memory>

namespace tilerail::cuda {

/// The counters of the driver's management library, loaded at run time; all figures are 0 where it is not there.
class PowerMeter {
 public:
  PowerMeter();
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  double limit_watts(int device) const;  // enforced
  /// Since the driver was loaded; brought up to date every 20 to 100 ms. What the library gives as power is, from
  /// Hopper on, a mean over the last second, so that it tells nothing of shorter spans: energy over time does.
  double joules(int device) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tilerail::cuda
