#include "sched/scheduler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/base/units_text.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/decided_plan.hpp"
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

namespace {

bool evicts(const Plan& plan) {
  return std::ranges::find(plan.origin.decisions,
                           PlanDecision{"tiles", std::string{tiles_evicted}}) !=
         plan.origin.decisions.end();
}

/// The decisions with a little less memory than the plan takes.
std::vector<PlanDecision> with_less_memory(std::vector<PlanDecision> decisions,
                                           const Plan& plan, const Topology& topology) {
  constexpr double less = 0.999;
  double fraction = 0;
  for (const MemoryId device : plan.devices)
    if (const auto capacity = topology.memory(device).capacity)
      fraction = std::max(
          fraction, less * double(plan.peak_bytes[device.index()]) / capacity->value);
  std::ranges::find(decisions, "memory", &PlanDecision::key)->value = shortest(fraction);
  return decisions;
}

/// If tiles are evicted, less memory may be faster: the order of tasks differs. Tries
/// smaller sizes of memory until several in sequence are not faster, so that more memory
/// has the plans of less memory among its candidates.
Plan with_best_memory(const Question& question, const PlanSimulator& simulator,
                      Plan best) {
  constexpr int patience = 6;
  if (!evicts(best)) return best;
  const std::vector<PlanDecision> decisions =
      decisions_of(best, question.topology, question.policy);
  double least = simulator.of(best).makespan.value;
  Plan last = best;
  int64_t ops = 0;
  for (int slower = 0; slower < patience && evicts(last); ++slower) {
    auto next = feasible([&] {
                  return plan_decided(
                      question.given, question.topology, best.devices, question.policy,
                      with_less_memory(decisions, last, question.topology));
                }).result;
    if (!next ||
        (ops += int64_t(next->ops.size())) > operations_of(question.policy.effort))
      break;
    last = *std::move(next);
    const double seconds = simulator.of(last).makespan.value;
    if (seconds >= least) continue;
    least = seconds, slower = -1;
    PlanOrigin origin = std::move(best.origin);
    origin.decisions = last.origin.decisions;
    const std::string& memory =
        std::ranges::find(origin.decisions, "memory", &PlanDecision::key)->value;
    origin.candidates.push_back({"memory=" + memory, seconds, Evaluator::simulator});
    origin.reasons = {
        {PlanReason::fastest, origin.candidates.size() - 1, origin.candidates.size()}};
    best = last;
    best.origin = std::move(origin);
  }
  return best;
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
  if (simulated) plan = with_best_memory(question, simulator, std::move(plan));
  check_routes(plan, topology);
  settle_graph(plan, topology);
  plan.origin.given.assign(devices.begin(), devices.end());
  return plan;
}

}  // namespace tilerail
