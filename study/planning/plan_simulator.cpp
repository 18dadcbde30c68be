#include "study/planning/plan_simulator.hpp"

#include <algorithm>
#include <numeric>

#include "backends/fluid/simulation.hpp"
#include "cost/energy.hpp"
#include "model/base/indices.hpp"

namespace tilerail::study {
namespace {

std::vector<Seconds> ends_of(const Plan& plan, const Topology& topology,
                             const std::vector<OpTime>& times) {
  std::vector<Seconds> of_memory(topology.memories().size(), Seconds{0});
  for (const auto op : indices(times)) {
    Seconds& end = of_memory[plan.device_of(plan.ops[op], topology).index()];
    end = std::max(end, Seconds{times[op].end});
  }
  std::vector<Seconds> ends;
  for (const MemoryId device : plan.devices) ends.push_back(of_memory[device.index()]);
  return ends;
}

}  // namespace

PlanSimulator plan_simulator(const Topology& topology) {
  constexpr Seconds simulating{4e-6};  // s per operation, about the result of
                                       // bench_sim_speed; docs/model.md#selection
  const auto of = [&topology](const Plan& plan) {
    const std::vector<OpTime> ops = simulate_fluid(plan, topology);
    PlanCost cost{makespan_of(ops), {}, ends_of(plan, topology, ops)};
    if (const auto energies = device_energies(plan, topology, ops))
      cost.energy = std::accumulate(energies->begin(), energies->end(), Joules{0});
    return cost;
  };
  return {of, simulating};
}

}  // namespace tilerail::study
