#include "cost/energy.hpp"

#include "cost/kernel_costs.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// A kernel starts or ends: the change of the used share of the device.
struct Step {
  double time, share;
};

Seconds filled_time(std::vector<Step> steps) {
  std::ranges::sort(steps, {}, &Step::time);
  double filled = 0, before = 0, sum = 0;
  for (const auto& [time, share] : steps) {
    filled += (time - before) * std::clamp(sum, 0.0, 1.0);
    before = time;
    sum += share;
  }
  return Seconds{filled};
}

}  // namespace

std::optional<DeviceWatts> device_watts(const GemmProblem& p, const Topology& topology,
                                        MemoryId device) {
  const Processor& processor = topology.processor(device);
  const auto of_gemm =
      topology.kernels_of(device).gemm_watts(p.dtype, p.trans_a, p.trans_b);
  const auto kernels = of_gemm ? of_gemm : processor.busy_watts;
  if (!processor.idle_watts || !kernels) return std::nullopt;
  return DeviceWatts{*processor.idle_watts, *kernels,
                     processor.busy_watts.value_or(*kernels)};
}

std::optional<std::vector<Joules>> device_energies(const Plan& plan,
                                                   const Topology& topology,
                                                   const std::vector<OpTime>& ops) {
  const GemmProblem p = typical_product(plan);
  std::vector<DeviceWatts> watts;
  for (const MemoryId device : plan.devices) {
    const auto known = device_watts(p, topology, device);
    if (!known || !topology.kernels_of(device).has_times(p.dtype, p.trans_a, p.trans_b))
      return std::nullopt;
    watts.push_back(*known);
  }
  const PlanKernelCosts costs{plan, topology};
  std::vector<std::vector<Step>> steps(topology.memories().size());  // by memory
  double makespan = 0;
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    makespan = std::max(makespan, ops[i].end);
    if (!is_kernel(op.kind)) continue;
    const double share = costs.of(OpId{i}).share;
    auto& of_device = steps[plan.queue(op.queue).dst.index()];
    of_device.push_back({ops[i].start, share});
    of_device.push_back({ops[i].end, -share});
  }
  std::vector<Joules> energies;
  for (const auto d : indices(plan.devices))
    energies.push_back(
        watts[d].over(Seconds{makespan}, filled_time(steps[plan.devices[d].index()])));
  return energies;
}

}  // namespace tilerail
