#include "study/simulator.hpp"

#include "backends/factory.hpp"

namespace tilerail::study {

std::unique_ptr<Executor> simulator_of(const Topology& machine) { return make_executor(simulator_backend, machine); }

}  // namespace tilerail::study
