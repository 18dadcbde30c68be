#pragma once

#include <memory>
#include <string>

namespace tilerail::cuda {

/// The counters of the driver's management library, loaded at run time; all figures are 0 where it is not there.
class PowerMeter {
 public:
  PowerMeter();
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  double watts(int device) const;        // drawn now, a mean over some milliseconds
  double limit_watts(int device) const;  // enforced
  double joules(int device) const;       // since the driver was loaded

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tilerail::cuda
