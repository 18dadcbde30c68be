#include "study/simulator.hpp"

#include "backends/factory.hpp"
#include "backends/simulator.hpp"

namespace tilerail::study {

std::unique_ptr<Executor> simulator_of(const Topology& machine) {
  return make_executor(simulator_backend, machine);
}

std::unique_ptr<Executor> simulator_of(const Topology& machine,
                                       const RunSettings& settings) {
  auto simulator = make_simulator(machine, 1 + settings.warmup + settings.iterations / 2);
  return simulator ? std::move(simulator) : simulator_of(machine);
}

}  // namespace tilerail::study
