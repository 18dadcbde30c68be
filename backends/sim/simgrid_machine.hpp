#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backends/sim/simgrid_platform.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// One simulation of a machine in SimGrid: flows that share links and groups, kernels that share GPUs, and a clock
/// that starts at zero. Each activity is created only when it may start, since SimGrid is slow on prepared graphs.
///
/// At most one activity runs in a slot, and one simulation in the process.
class SimGridMachine {
 public:
  using Slot = std::uint32_t;

  /// Is told what happens while the machine runs. Must not throw.
  class Listener {
   public:
    virtual void activity_ended(Slot slot) = 0;
    /// Everything that ends at this instant has been reported; also called at the wake-up time.
    virtual void instant() = 0;

   protected:
    ~Listener() = default;
  };

  struct Options {
    std::span<const FlowRoute> routes;  // that flows will use
    std::size_t slots = 0;
    double resolution = 0;  // seconds; events closer together are one instant
  };

  SimGridMachine(const Topology& topology, const Options& options, Listener& listener);
  ~SimGridMachine();

  double now() const;  // seconds

  /// Moves bytes (> 0) along routes[route]. Within one memory they cross its memory bandwidth, which must be known.
  void start_flow(Slot slot, std::size_t route, std::uint64_t bytes);

  /// Runs a kernel that takes `seconds` (> 0) when it gets `share` (in (0, 1]) of the GPU, longer when it gets less.
  void start_kernel(Slot slot, MemoryId gpu, double seconds, double share);

  /// Calls instant() at `date`, or earlier if an earlier wake-up is still to come.
  void wake_at(double date);

  /// Returns when nothing runs and no wake-up is left.
  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilerail
