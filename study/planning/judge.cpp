#include "study/planning/judge.hpp"

#include <memory>
#include <numeric>

#include "backends/simulator.hpp"
#include "cost/energy.hpp"

namespace tilerail::study {

Judge judge_of(const Topology& topology) {
  constexpr Seconds simulating{8e-6};  // an operation, about what bench_sim_speed shows; docs/model.md#selection
  const std::shared_ptr<Executor> simulator = make_simulator(topology);
  if (!simulator) return {};
  const auto of = [&topology, simulator](const Plan& plan) {
    const Timeline timeline = simulator->execute(plan);
    Judgement judgement{timeline.makespan(), {}};
    if (const auto energies = device_energies(plan, topology, timeline.ops))
      judgement.energy = std::accumulate(energies->begin(), energies->end(), Joules{0});
    return judgement;
  };
  return {of, simulating};
}

}  // namespace tilerail::study
