#include "backends/simulator.hpp"

#ifdef TILERAIL_HAVE_SIM
#include "backends/sim/sim_executor.hpp"
#endif

namespace tilerail {

#ifdef TILERAIL_HAVE_SIM
std::unique_ptr<Executor> make_simulator(const Topology& topology) { return std::make_unique<SimExecutor>(topology); }
#else
std::unique_ptr<Executor> make_simulator(const Topology&) { return {}; }
#endif

}  // namespace tilerail
