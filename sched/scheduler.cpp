#include "sched/scheduler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/base/units_text.hpp"
#include "plan/memory_needs.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/set_search.hpp"
#include "sched/decided_plan.hpp"
#include "sched/gemm/region_planner.hpp"
#include "sched/gemm/tile_scheduler.hpp"
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

/// Sizes of memory below `bytes`: floor(2^(j/8)) slots of the policy's tile, or bytes if
/// the planner chooses the tile. More memory has the sizes of less memory among its own.
int64_t smaller_memory(const Question& q, int64_t bytes) {
  const int64_t tile = q.policy.choices.tile;
  const GemmProblem& p = q.problem;
  const int64_t slot = tile == 0 ? 1
                                 : slot_bytes(std::min(tile, p.m), std::min(tile, p.n),
                                              std::min(tile, p.k), p);
  return rounded_slots((bytes - 1) / slot) * slot;
}

/// The plan on the same devices if their memories are smaller and tiles can take this
/// fraction: with the same decisions if these were searched, else with the tile of the
/// least estimate.
Plan plan_with(double fraction, const Question& q, const Plan& plan) {
  Policy policy = q.policy;
  policy.device_choice = DeviceChoice::all;
  policy.whole_memory = std::min(1.0, fraction / policy.choices.memory_fraction);
  policy.choices.memory_fraction = fraction;
  if (!varies_fields(policy.effort))
    return estimated_plan(q.on(plan.devices).by(policy).estimated());
  std::vector<PlanDecision> decisions = decisions_of(plan, q.topology, q.policy);
  std::ranges::find(decisions, "memory", &PlanDecision::key)->value = shortest(fraction);
  return plan_decided(q.given, q.topology, plan.devices, q.policy, decisions);
}

/// Takes a faster plan, and explains it by its memory.
void take(Plan& best, Plan faster, double seconds) {
  PlanOrigin origin = std::move(best.origin);
  origin.decisions = faster.origin.decisions;
  const std::string& memory =
      std::ranges::find(origin.decisions, "memory", &PlanDecision::key)->value;
  origin.evaluator = Evaluator::simulator;
  origin.candidates.push_back({"memory=" + memory, seconds, Evaluator::simulator});
  origin.reasons = {
      {PlanReason::fastest, origin.candidates.size() - 1, origin.candidates.size()}};
  best = std::move(faster);
  best.origin = std::move(origin);
}

/// The device with the least memory for tiles.
struct Tightest {
  double capacity, matrices;  // bytes
  int64_t tiles;              // bytes

  /// The fraction for tiles of a smaller memory with this room for tiles.
  double fraction(int64_t bytes, double most) const {
    const double room = double(bytes) + 0.5;  // rounding keeps the bytes
    return std::min(most, std::max(room, most * (room + matrices)) / capacity);
  }
};

std::optional<Tightest> tightest(const Question& q, const Plan& plan) {
  const std::vector<int64_t> tiles = capacities_for_tiles(
      q.given, q.topology, plan.devices, q.policy.choices.memory_fraction);
  const auto least = std::ranges::min_element(tiles);
  const MemoryId device = plan.devices[size_t(least - tiles.begin())];
  const auto capacity = q.topology.memory(device).capacity;
  if (!capacity) return std::nullopt;
  const auto needs = memory_needs(tensors_of(q.given), plan.devices, q.topology);
  return Tightest{capacity->value, needs[device.index()].matrices, *least};
}

/// Operations that were planned for a plan, with the other tiles that were tried.
int64_t cost_of_choice(const Plan& plan) {
  const size_t tried = std::max<size_t>(1, plan.origin.candidates.size());
  return int64_t(tried * (cost_of_plan + plan.ops.size()));
}

/// Whether plans for smaller memories are tried: not if the plan is too large to be
/// simulated, nor if all tiles fit and the search varies their order anyway.
bool tries_less_memory(const Policy& policy, const Plan& best) {
  const bool is_large =
      best.origin.evaluator == Evaluator::estimate ||
      (1 + cost_of_simulating) * int64_t(best.ops.size()) > operations_of(policy.effort);
  return !is_large && (!varies_fields(policy.effort) || evicts(best));
}

/// Sizes of memory from one plan to the next (docs/model.md#memory): for an automatic
/// tile, each size costs plans of several tiles.
int sizes_in_a_step(const Policy& policy, const Plan& plan) {
  constexpr int few_steps = 40;
  const bool chooses = !varies_fields(policy.effort) && policy.choices.tile == 0;
  return chooses && few_steps * cost_of_choice(plan) > operations_of(policy.effort) ? 2
                                                                                    : 1;
}

/// Less memory may be faster: the order of tasks differs. Tries smaller sizes of memory
/// until copies and kernels alone take longer than the fastest plan, so that more memory
/// has the plans of less memory among its candidates. Plans with tiles that fit have
/// them, too, if nothing else varies.
Plan with_best_memory(const Question& question, const PlanSimulator& simulator,
                      Plan best) {
  constexpr int patience = 3;  // docs/model.md#memory: sizes in sequence
  constexpr double margin = 0.01;
  const Policy& policy = question.policy;
  const auto device = tightest(question, best);
  if (!device || !tries_less_memory(policy, best)) return best;
  const bool is_candidate =
      !evicts(best) || varies_fields(policy.effort) || policy.choices.tile == 0;
  const Plan given = best;
  int64_t ops = operations_of(policy.effort);
  Seconds least = is_candidate ? simulator.of(best).makespan : Seconds{INFINITY};
  int64_t bytes = std::min(device->tiles, 2 * std::ranges::max(best.peak_bytes)) + 1;
  for (int slower = 0, sizes = 1; slower < patience && bytes > 0;) {
    for (int step = 0; step < sizes && bytes > 0; ++step)
      bytes = smaller_memory(question, bytes);
    const double fraction = device->fraction(bytes, policy.choices.memory_fraction);
    auto next = feasible([&] { return plan_with(fraction, question, given); }).result;
    if (!next) break;
    if ((ops -= cost_of_choice(*next)) < 0) break;
    sizes = sizes_in_a_step(policy, *next);
    const Seconds busiest =
        estimate_plan(*next, question.topology, question.resources).busiest;
    slower = busiest >= least * (1 - margin) ? slower + 1 : 0;
    const Seconds time = slower > 0 ? least : simulator.of(*next).makespan;
    if (time >= least) continue;
    least = time;
    take(best, *std::move(next), time.value);
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
