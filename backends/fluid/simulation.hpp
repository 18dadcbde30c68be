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

/// A machine in model time: flows share links and groups, and kernels share GPUs, max-min
/// fairly; the clock starts at zero. At most one activity runs in a slot.
/// docs/model.md#simulator
class SharedMachine {
 public:
  using Slot = uint32_t;

  /// Receives events while the machine runs. Must not throw.
  class Listener {
   public:
    /// Called for simultaneously ending activities in ascending order of slots.
    virtual void activity_ended(Slot slot) = 0;
    /// Called after `activity_ended` of all activities that end at this instant, and at
    /// the wake-up time.
    virtual void instant() = 0;

   protected:
    ~Listener() = default;
  };

  struct Options {
    std::span<const FlowRoute> routes;  // routes of all flows
    size_t slots = 0;
    double resolution = 0;  // seconds; closer events are simultaneous
  };

  virtual ~SharedMachine() = default;

  virtual double now() const = 0;  // seconds

  /// Moves bytes (> 0) along routes[route]. Within one memory they cross its memory
  /// bandwidth, which must be known.
  virtual void start_flow(Slot slot, size_t route, uint64_t bytes) = 0;

  /// Runs a kernel that takes `seconds` (> 0) with `share` (in (0, 1]) of the GPU, and
  /// longer with less.
  virtual void start_kernel(Slot slot, MemoryId gpu, double seconds, double share) = 0;

  /// Calls instant() at `date`, or earlier if an earlier wake-up is pending.
  virtual void wake_at(double date) = 0;

  /// Returns when nothing runs and no wake-up is pending.
  virtual void run() = 0;
};

/// Makes a machine for one run. The topology, the routes and the listener must outlive
/// it.
using MakeMachine = std::function<std::unique_ptr<SharedMachine>(
    const Topology&, const SharedMachine::Options&, SharedMachine::Listener&)>;

struct SimOptions {
  bool issue_cost = true;                    // false: issuing operations takes no time
  double calls_before = usual_calls_before;  // back-to-back calls of the plan before this
                                             // one; load slows kernels down only some
                                             // time after a pause
};

/// Start and end in model time of each operation of a plan that fits the machine. Kernels
/// that slow down while their GPU is busy are simulated repeatedly until their times
/// match the load of the GPU. docs/model.md#simulator
std::vector<OpTime> simulate(const Plan& plan, const Topology& topology,
                             const SimOptions& options, const MakeMachine& machine);

/// The same on a FluidMachine: threads can simulate simultaneously.
std::vector<OpTime> simulate_fluid(const Plan& plan, const Topology& topology,
                                   const SimOptions& options = {});

}  // namespace tilerail
