#include "backends/sim/sim_executor.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "backends/sim/simgrid_machine.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

std::mutex one_simulation_at_a_time;  // SimGrid has one engine a process

std::unique_ptr<SharedMachine> make_machine(const Topology& topology, const SharedMachine::Options& options,
                                            SharedMachine::Listener& listener) {
  return std::make_unique<SimGridMachine>(topology, options, listener);
}

}  // namespace

SimExecutor::SimExecutor(Topology topology, SimOptions options) : topology_{std::move(topology)}, options_{options} {}

Timeline SimExecutor::execute(const Plan& plan) {
  validate(plan, topology_);
  const std::lock_guard lock{one_simulation_at_a_time};
  return {simulator_backend, content_hash(plan), simulate(plan, topology_, options_, make_machine)};
}

}  // namespace tilerail
