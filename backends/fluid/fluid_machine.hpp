#pragma once

#include <optional>
#include <vector>

#include "backends/fluid/shared_machine.hpp"
#include "model/machine/fair_shares.hpp"

namespace tilerail {

/// A machine in model time without SimGrid: each simulation stands for itself, so that threads may run their own at
/// the same time. Takes the times that SimGrid takes, to rounding.
class FluidMachine final : public SharedMachine {
 public:
  FluidMachine(const Topology& topology, const Options& options, Listener& listener);

  double now() const override { return now_; }
  void start_flow(Slot slot, size_t route, uint64_t bytes) override;
  void start_kernel(Slot slot, MemoryId gpu, double seconds, double share) override;
  void wake_at(double date) override;
  void run() override;

 private:
  struct Activity {
    Slot slot;
    double left;                // bytes, or seconds of the whole GPU
    double rate = 0;            // of that, in a second
    FairShares::Flow flow = 0;  // of a flow
    size_t gpu = 0;             // of a kernel
    double share = 0;
  };

  void share_gpus();
  double next_event() const;
  void advance(double seconds);
  void advance(std::vector<Activity>& running, double seconds);

  Listener& listener_;
  double resolution_, now_ = 0;
  std::optional<double> wake_up_;          // the earliest date set
  std::vector<Activity> kernels_, flows_;  // that run, in the order in which they began
  std::vector<Activity> ended_;            // with the last step
  std::vector<Activity*> by_want_;         // kernels
  FairShares shares_;
  bool kernels_changed_ = false;
  struct Gpu {
    double free = 1;
    int kernels = 0;  // that have no rate yet
  };
  std::vector<Gpu> gpus_;  // by memory
};

}  // namespace tilerail
