#include "sched/scheduler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "model/base/error.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/tasks/plan_checks.hpp"
#include "sched/tasks/workspace.hpp"

namespace tilerail {
namespace {

bool has_times(const Topology& topology, MemoryId device, const GemmProblem& p,
               DType dtype) {
  return topology.kernels_of(device).has_times(dtype, p.trans_a, p.trans_b);
}

/// Throws InputError for a product without times on any device.
[[noreturn]] void refuse_dtype(const GemmProblem& p, const Topology& topology,
                               std::span<const MemoryId> devices) {
  std::vector<std::string_view> known;
  for (const DType dtype : dtypes)
    if (std::ranges::any_of(devices, [&](MemoryId device) {
          return has_times(topology, device, p, dtype);
        }))
      known.push_back(to_string(dtype));
  throw InputError{
      "dtype", to_string(p.dtype),
      fmt::format("has no GEMM times for {}{} on machine '{}'", to_string(p.trans_a),
                  to_string(p.trans_b), topology.name()),
      fmt::format("one of: {}", fmt::join(known, ", "))};
}

/// The devices that a plan may use: all given ones or, if the policy selects some of
/// them, those with known times of this product. Throws InputError if a mandatory device
/// lacks these times: its share could be planned, but not simulated or weighted.
std::vector<MemoryId> usable_devices(const GemmProblem& p, const Topology& topology,
                                     std::span<const MemoryId> devices,
                                     const Policy& policy) {
  std::vector<MemoryId> known, unknown;
  for (const MemoryId device : devices)
    (has_times(topology, device, p, p.dtype) ? known : unknown).push_back(device);
  if (unknown.empty() || p.routine == Routine::axpy)
    return {devices.begin(), devices.end()};
  if (known.empty()) refuse_dtype(p, topology, devices);
  if (policy.select || policy.device_choice == DeviceChoice::search) return known;
  throw InputError{"devices", topology.memory(unknown.front()).name,
                   fmt::format("has no GEMM times for {} {}{}, which '{}' has",
                               to_string(p.dtype), to_string(p.trans_a),
                               to_string(p.trans_b), topology.memory(known.front()).name),
                   "devices that all have them"};
}

Plan chosen_plan(const Question& q, const PlanSimulator& simulator) {
  const bool product = q.problem.has_product();
  const bool picks =
      (q.policy.select && product) || q.policy.device_choice == DeviceChoice::search;
  std::vector<MemoryId> left{q.devices.begin(), q.devices.end()};
  if (picks) {
    const bool relays =
        may_change(q.policy, "routing") || q.policy.choices.routing == Routing::link_map;
    const ReturnPath path = relays ? ReturnPath::over_others : ReturnPath::direct;
    const PeerCopies copies =
        staging_may_help(q) ? PeerCopies::staged : q.policy.choices.peer_copies;
    const auto supplied =
        q.policy.select
            ? directly_supplied(q.problem, q.topology, q.devices, copies)
            : supplied_devices(q.problem, q.topology, q.devices, path, copies);
    if (!supplied.empty())
      left = supplied;  // if empty, planning reports the missing route
  }
  if (!product) return search_plan(q.on(left), simulator);
  left = usable_devices(q.problem, q.topology, left, q.policy);
  return q.policy.select && left.size() > 1 ? selected_plan(q.on(left), simulator)
                                            : search_plan(q.on(left), simulator);
}

}  // namespace

Plan plan_gemm(const GemmProblem& given, const Topology& topology,
               std::span<const MemoryId> devices, const Policy& policy,
               const PlanSimulator& simulator) {
  const GemmProblem problem = checked(given), work = work_of(problem);
  check_devices(topology, devices);
  check_places(problem, topology, devices);
  const Resources resources{topology};
  const bool simulated = simulator.of && operations_of(policy.effort) > 0;
  const Question question =
      Question{problem, work, topology, resources, devices, policy, {}, simulated}
          .on_first();
  Plan plan = chosen_plan(question, simulator);
  check_routes(plan, topology);
  settle_graph(plan, topology);
  plan.origin.given.assign(devices.begin(), devices.end());
  return plan;
}

}  // namespace tilerail
