#include "backends/simulator.hpp"

#ifdef TILERAIL_HAVE_SIM
#include "backends/sim/sim_executor.hpp"
#endif

namespace tilerail {

#ifdef TILERAIL_HAVE_SIM
std::unique_ptr<Executor> make_simulator(const Topology& topology, double calls_before) {
  return std::make_unique<SimExecutor>(topology,
                                       SimOptions{.calls_before = calls_before});
}
#else
std::unique_ptr<Executor> make_simulator(const Topology&, double) { return {}; }
#endif

}  // namespace tilerail
