#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cost/kernel_costs.hpp"
#include "model/machine/flow_route.hpp"
#include "model/machine/topology.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A machine in model time: flows share links and groups, kernels share GPUs, max-min
/// fairly, and a clock starts at zero. At most one activity runs in a slot.
/// docs/model.md#simulator
class SharedMachine {
 public:
  using Slot = uint32_t;

  /// Is told what happens while the machine runs. Must not throw.
  class Listener {
   public:
    /// Of activities that end at one instant, that with the lowest slot is told first.
    virtual void activity_ended(Slot slot) = 0;
    /// Everything that ends at this instant has been reported; also called at the wake-up
    /// time.
    virtual void instant() = 0;

   protected:
    ~Listener() = default;
  };

  struct Options {
    std::span<const FlowRoute> routes;  // that flows will use
    size_t slots = 0;
    double resolution = 0;  // seconds; events closer together are one instant
  };

  virtual ~SharedMachine() = default;

  virtual double now() const = 0;  // seconds

  /// Moves bytes (> 0) along routes[route]. Within one memory they cross its memory
  /// bandwidth, which must be known.
  virtual void start_flow(Slot slot, size_t route, uint64_t bytes) = 0;

  /// Runs a kernel that takes `seconds` (> 0) when it gets `share` (in (0, 1]) of the
  /// GPU, longer when it gets less.
  virtual void start_kernel(Slot slot, MemoryId gpu, double seconds, double share) = 0;

  /// Calls instant() at `date`, or earlier if an earlier wake-up is still to come.
  virtual void wake_at(double date) = 0;

  /// Returns when nothing runs and no wake-up is left.
  virtual void run() = 0;
};

/// Makes a machine for one run. The topology, the routes and the listener have to outlive
/// it.
using MakeMachine = std::function<std::unique_ptr<SharedMachine>(
    const Topology&, const SharedMachine::Options&, SharedMachine::Listener&)>;

struct SimOptions {
  bool issue_cost = true;  // false: handing an operation to a device costs nothing
  double calls_before = usual_calls_before;  // of the plan, without a pause: load is felt
                                             // some time after a rest
};

/// When each operation of a plan that fits the machine begins and ends in model time.
/// Kernels that slow down while their GPU is busy are simulated again until their times
/// fit how busy it was. docs/model.md#simulator
std::vector<OpTime> simulate(const Plan& plan, const Topology& topology,
                             const SimOptions& options, const MakeMachine& machine);

/// The same by FluidMachine: threads may do so at the same time.
std::vector<OpTime> simulate_fluid(const Plan& plan, const Topology& topology,
                                   const SimOptions& options = {});

}  // namespace tilerail
