#pragma once

#include <memory>

#include "backends/fluid/shared_machine.hpp"

namespace tilerail {

/// One simulation of a machine in SimGrid. Each activity is created only when it may start, since SimGrid is slow on
/// prepared graphs. One simulation at a time in the process.
class SimGridMachine final : public SharedMachine {
 public:
  SimGridMachine(const Topology& topology, const Options& options, Listener& listener);
  ~SimGridMachine() override;

  double now() const override;
  void start_flow(Slot slot, size_t route, uint64_t bytes) override;
  void start_kernel(Slot slot, MemoryId gpu, double seconds, double share) override;
  void wake_at(double date) override;
  void run() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilerail
