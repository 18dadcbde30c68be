#include "study/planning/judge.hpp"

#include <numeric>

#include "backends/fluid/simulation.hpp"
#include "cost/energy.hpp"

namespace tilerail::study {

Judge judge_of(const Topology& topology) {
  constexpr Seconds simulating{4e-6};  // an operation, about what bench_sim_speed shows; docs/model.md#selection
  const auto of = [&topology](const Plan& plan) {
    const std::vector<OpTime> ops = simulate_fluid(plan, topology);
    Judgement judgement{makespan_of(ops), {}};
    if (const auto energies = device_energies(plan, topology, ops))
      judgement.energy = std::accumulate(energies->begin(), energies->end(), Joules{0});
    return judgement;
  };
  return {of, simulating};
}

}  // namespace tilerail::study
