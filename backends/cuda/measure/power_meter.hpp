#pragma once

#include <memory>

namespace tilerail::cuda {

/// The counters of the driver's management library, loaded at run time; all figures are 0
/// where it is not there.
class PowerMeter {
 public:
  PowerMeter();
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  double limit_watts(int device) const;  // enforced
  /// Energy since the driver was loaded; the counter moves every 20 to 100 ms. (The power
  /// that the library gives is a mean over the last second from Hopper on, so that it
  /// tells nothing of shorter spans.)
  double joules(int device) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tilerail::cuda
