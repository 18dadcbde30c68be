#include "api/call_planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/single_gpu.hpp"
#include "model/base/error.hpp"
#include "model/base/memory_shortage.hpp"
#include "model/base/text.hpp"
#include "plan/describe.hpp"
#include "plan/memory_needs.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::api {
namespace {

PlannedCall call_of(Plan plan, const Topology& topology) {
  PlanInfo info;
  using enum PlanInfo::By;
  const auto& reasons = plan.origin.reasons;
  info.by =
      std::array{nothing, estimate, simulator, cache}[size_t(plan.origin.evaluator)];
  if (!reasons.empty() && reasons.back().kind == PlanReason::tuned) info.by = cache;
  info.why = reason_text(plan.origin), info.hash = content_hash(plan),
  info.tile = plan.tile;
  info.operations = plan.ops.size();
  for (const MemoryId gpu : plan.devices)
    info.devices.push_back(topology.processor(gpu).device);
  return {std::move(plan), std::move(info)};
}

PlannedCall single_call(Plan single, const std::string& why, const Topology& topology) {
  PlannedCall call = call_of(std::move(single), topology);
  call.info.by = PlanInfo::By::estimate;
  call.info.why = fmt::format("one kernel on {}, {}",
                              topology.memory(call.plan.devices.front()).name, why);
  return call;
}

/// Half of several GPUs: the GPU with the matrices and the first of the others.
std::vector<MemoryId> half_of(std::vector<MemoryId> gpus, MemoryId home) {
  std::stable_partition(gpus.begin(), gpus.end(),
                        [&](MemoryId gpu) { return gpu == home; });
  gpus.resize(gpus.size() / 2);
  std::ranges::sort(gpus);
  return gpus;
}

/// If memory is scarce, it goes to tiles rather than to cuBLAS workspaces.
constexpr int few_streams = 1;

struct Free {
  MemoryId gpu;
  int64_t bytes;
};

/// The machine with its free memory as capacity: free bytes for tiles plus the matrices
/// that are already there.
Topology with_free(const Topology& topology, std::span<const Free> free,
                   std::span<const MemoryId> gpus, const GemmProblem& problem) {
  Topology::Description less = topology.description();
  const auto needs = memory_needs(tensors_of(problem), gpus, topology);
  for (const Free& one : free)
    less.memories[one.gpu.index()].capacity =
        Bytes{std::max(1.0, double(one.bytes) + needs[one.gpu.index()].matrices)};
  return Topology{std::move(less)};
}

std::string text(std::span<const Free> free, const Topology& topology) {
  std::vector<std::string> all;
  for (const Free& one : free)
    all.push_back(fmt::format("{} in '{}'", bytes_text(double(one.bytes)),
                              topology.memory(one.gpu).name));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

CallPlanner::CallPlanner(const Topology& topology)
    : topology_{topology}, simulator_{study::plan_simulator(topology)} {}

PlannedCall CallPlanner::plan(const GemmProblem& problem,
                              std::span<const MemoryId> devices, const Policy& policy,
                              const study::TunedPlans& tuned) const {
  const GemmProblem whole = checked(problem);
  std::optional<Plan> single = single_kernel_plan(whole, topology_, devices, policy);
  if (single)
    if (const auto why = doubt_in_others(*single, topology_, devices))
      return single_call(std::move(*single), *why, topology_);
  const auto searched = [&] {
    return plan_gemm(problem, topology_, devices, policy, simulator_);
  };
  PlannedCall call =
      call_of(tuned.plan(problem, topology_, devices, policy, searched), topology_);
  if (!single) return call;
  std::optional<std::string> why;
  while (call.plan.devices.size() > 1) {
    const auto doubt = doubt_in(call.plan, *single, topology_);
    if (!doubt) return call;
    if (!why) why = doubt;
    if (call.plan.devices.size() < 4)
      break;  // half of them would be only the GPU with the matrices
    const std::vector<MemoryId> some = half_of(call.plan.devices, whole.place_c.home());
    call = call_of(plan_gemm(problem, topology_, some, policy), topology_);
  }
  constexpr const char* slower =
      "where all matrices are: more GPUs are not estimated to be faster";
  return single_call(std::move(*single), why.value_or(slower), topology_);
}

PlannedCall CallPlanner::plan_within(const Room& room, const GemmProblem& problem,
                                     std::span<const MemoryId> devices,
                                     const Policy& given) const {
  Policy policy = given;
  policy.choices.memory_fraction = 1;
  policy.choices.compute_streams = few_streams;
  std::vector<Free> free;
  for (const MemoryId gpu : devices)
    free.push_back({gpu, room(gpu, policy.choices.compute_streams)});
  const std::string seen = text(free, topology_);
  std::ranges::stable_sort(free, std::greater{}, &Free::bytes);
  for (; !free.empty(); free.pop_back()) {
    std::vector<MemoryId> left;
    for (const Free& one : free) left.push_back(one.gpu);
    std::ranges::sort(left);
    try {
      PlannedCall call = call_of(
          plan_gemm(problem, with_free(topology_, free, left, problem), left, policy),
          topology_);
      call.info.why += fmt::format("; memory was short: free for tiles were {}", seen);
      return call;
    } catch (const InputError& error) {
      if (free.size() == 1)
        throw MemoryShortage{
            "", {}, fmt::format("free for tiles are {}: {}", seen, error.what())};
    }
  }
  throw MemoryShortage{"devices", {}, "no GPU is left to plan for"};
}

}  // namespace tilerail::api
