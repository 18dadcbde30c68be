#pragma once

#include "backends/executor.hpp"
#include "backends/fluid/simulation.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Runs plans on a described machine, in simulated time (equations:
/// docs/model.md#simulator). One executor simulates any number of plans; executors of
/// different machines can be used alternately and from several threads, which wait for
/// each other. The same plan gives the same timeline, bit for bit. Limit: SimGrid has one
/// engine per process, created here on first use and kept, so a program with its own
/// engine cannot use this executor.
class SimExecutor : public Executor {
 public:
  /// The executor copies the machine.
  explicit SimExecutor(Topology topology, SimOptions options = {});

  /// Timeline::backend is simulator_backend. Throws InputError if the plan does not fit
  /// the machine.
  Timeline execute(const Plan& plan) override;

 private:
  Topology topology_;
  SimOptions options_;
};

}  // namespace tilerail
