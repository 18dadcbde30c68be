#pragma once

#include <memory>

namespace tilerail::cuda {

/// The counters of the driver's management library, loaded at run time; all figures are 0
/// without the library.
class PowerMeter {
 public:
  PowerMeter();
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  double limit_watts(int device) const;  // enforced
  /// Energy since the driver was loaded; the counter changes every 20 to 100 ms. (From
  /// Hopper on, the library's power is a mean over the last second, so it cannot resolve
  /// shorter spans.)
  double joules(int device) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tilerail::cuda
