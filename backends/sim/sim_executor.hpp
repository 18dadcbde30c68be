#pragma once

#include "backends/executor.hpp"
#include "backends/fluid/simulation.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Runs plans on a described machine, in simulated time (equations:
/// docs/model.md#simulator). One executor simulates any number of plans; executors of
/// different machines may be used alternately and from several threads, which wait for
/// each other. The same plan gives the same timeline, bit for bit. SimGrid has one engine
/// a process, made here on first use and kept: a program that has its own cannot use this
/// executor.
class SimExecutor : public Executor {
 public:
  /// The executor keeps its own copy of the machine.
  explicit SimExecutor(Topology topology, SimOptions options = {});

  /// Timeline::backend is simulator_backend. Throws InputError when the plan does not fit
  /// the machine.
  Timeline execute(const Plan& plan) override;

 private:
  Topology topology_;
  SimOptions options_;
};

}  // namespace tilerail
