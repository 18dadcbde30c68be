#include "study/judge.hpp"

#ifdef TILERAIL_HAVE_SIM
#include <numeric>

#include "backends/sim/sim_executor.hpp"
#include "cost/energy.hpp"
#endif

namespace tilerail::study {

#ifdef TILERAIL_HAVE_SIM
Judge judge_of(const Topology& topology) {
  constexpr Seconds simulating{8e-6};
  const auto of = [&topology](const Plan& plan) {
    const Timeline timeline = SimExecutor{topology}.execute(plan);
    Judgement judgement{timeline.makespan(), {}};
    if (const auto energies = device_energies(plan, topology, timeline.ops))
      judgement.energy = std::accumulate(energies->begin(), energies->end(), Joules{0});
    return judgement;
  };
  return {of, simulating};
}
#else
Judge judge_of(const Topology&) { return {}; }
#endif

}  // namespace tilerail::study
