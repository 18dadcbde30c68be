#include "cost/energy.hpp"

#include <algorithm>
#include <utility>

#include "cost/kernel_costs.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// A kernel that starts or ends: by how much that changes the share of the device that is in use.
struct Step {
  Seconds time;
  double share;
};

Seconds filled_time(std::vector<Step> steps) {
  std::ranges::sort(steps, {}, &Step::time);
  Seconds filled{0}, before{0};
  double sum = 0;
  for (const Step& step : steps) {
    filled += (step.time - before) * std::clamp(sum, 0.0, 1.0);
    before = step.time;
    sum += step.share;
  }
  return filled;
}

/// By memory: starts and ends of its kernels.
std::vector<std::vector<Step>> kernel_steps(const Plan& plan, const Topology& topology,
                                            const std::vector<OpTime>& ops) {
  const PlanKernelCosts costs{plan, topology};
  std::vector<std::vector<Step>> steps(topology.memories().size());
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (!is_kernel(op.kind)) continue;
    const double share = costs.of(OpId{i}).share;
    auto& of_device = steps[plan.queue(op.queue).dst.index()];
    of_device.push_back({Seconds{ops[i].start}, share});
    of_device.push_back({Seconds{ops[i].end}, -share});
  }
  return steps;
}

bool knows_gemms(const Plan& plan, const Topology& topology) {
  const GemmProblem& p = plan.problem;
  return std::ranges::all_of(
      plan.devices, [&](MemoryId device) { return topology.kernels_of(device).knows(p.dtype, p.trans_a, p.trans_b); });
}

}  // namespace

std::optional<DeviceWatts> device_watts(const GemmProblem& p, const Topology& topology, MemoryId device) {
  const Memory& memory = topology.memory(device);
  const auto of_gemm = topology.kernels_of(device).gemm_watts(p.dtype, p.trans_a, p.trans_b);
  const auto kernels = of_gemm ? of_gemm : memory.busy_watts;
  if (!memory.idle_watts || !kernels) return std::nullopt;
  return DeviceWatts{*memory.idle_watts, *kernels, memory.busy_watts.value_or(*kernels)};
}

std::optional<std::vector<Joules>> device_energies(const Plan& plan, const Topology& topology,
                                                   const std::vector<OpTime>& ops) {
  std::vector<DeviceWatts> watts;
  for (const MemoryId device : plan.devices) {
    const auto known = device_watts(plan.problem, topology, device);
    if (!known) return std::nullopt;
    watts.push_back(*known);
  }
  if (!knows_gemms(plan, topology)) return std::nullopt;
  Seconds makespan{0};
  for (const OpTime& op : ops) makespan = std::max(makespan, Seconds{op.end});
  std::vector<std::vector<Step>> steps = kernel_steps(plan, topology, ops);
  std::vector<Joules> energies;
  for (const auto d : indices(plan.devices)) {
    const Seconds filled = filled_time(std::move(steps[plan.devices[d].index()]));
    energies.push_back(watts[d].over(makespan, filled));
  }
  return energies;
}

std::optional<Joules> bystander_energy(const Plan& plan, const Topology& topology, Seconds makespan) {
  Joules sum{0};
  for (const MemoryId gpu : topology.gpus()) {
    if (std::ranges::find(plan.devices, gpu) != plan.devices.end()) continue;
    const auto idle = topology.memory(gpu).idle_watts;
    if (!idle) return std::nullopt;
    sum += *idle * makespan;
  }
  return sum;
}

}  // namespace tilerail
