#include "api/single_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cost/estimate.hpp"
#include "model/base/contains.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::api {
namespace {

// The origin of these values: docs/model.md#calls-on-one-gpu.
constexpr Seconds least_shared{500e-6};
constexpr double doubt_if_measured = 2, doubt_if_assumed = 4;

/// Whether every figure was measured, or fitted to measurements.
bool is_measured(const Topology& topology) {
  return std::ranges::none_of(topology.description().sources, [](const Source& source) {
    return source.kind == Source::Kind::assumed || source.kind == Source::Kind::published;
  });
}

std::string text(Seconds time) { return fmt::format("{:.1f} us", 1e6 * time.value); }

Estimate estimate(const Plan& plan, const Topology& topology) {
  return estimate_plan(plan, topology, Resources{topology});
}

}  // namespace

std::optional<Plan> single_kernel_plan(const GemmProblem& p, const Topology& topology,
                                       std::span<const MemoryId> devices,
                                       const Policy& policy) {
  if (policy.device_choice != DeviceChoice::search ||
      policy.tile_choice != TileChoice::search)
    return {};
  if (policy.choices.tile != 0 || policy.select || !policy.choices.in_place) return {};
  if (p.place_a != p.place_c || p.place_b != p.place_c) return {};
  const MemoryId gpu = p.place_c.home();
  if (!p.place_c.is_whole() || !contains(devices, gpu)) return {};
  if (!topology.kernels_of(gpu).has_times(p.dtype, p.trans_a, p.trans_b))
    return {};  // the planner reports the missing kernel
  Policy whole = policy;
  whole.choices.tile = std::max({p.m, p.n, p.k});
  whole.effort = Effort::fast;
  Plan plan = plan_gemm(p, topology, std::span{&gpu, 1}, whole);
  return is_single_kernel(plan) ? std::optional{std::move(plan)} : std::nullopt;
}

bool is_single_kernel(const Plan& plan) {
  if (plan.ops.size() != 1 || plan.devices.size() != 1 ||
      !is_kernel(plan.ops.front().kind))
    return false;
  const MemoryId gpu = plan.devices.front();
  return plan.queue(plan.ops.front().queue).dst == gpu &&
         std::ranges::all_of(plan.buffers, [&](const Buffer& buffer) {
           return !buffer.in_arena && buffer.memory == gpu;
         });
}

std::optional<std::string> doubt_in_others(const Plan& single, const Topology& topology,
                                           std::span<const MemoryId> devices) {
  if (devices.size() == 1) return "the only GPU, where all matrices are";
  const Seconds alone = estimate(single, topology).makespan;
  if (alone >= least_shared) return {};
  return fmt::format("where all matrices are: an estimated {} are too little to share",
                     text(alone));
}

std::optional<std::string> doubt_in(const Plan& several, const Plan& single,
                                    const Topology& topology) {
  const Estimate shared = estimate(several, topology);
  const Seconds alone = estimate(single, topology).makespan;
  const double doubt = is_measured(topology) ? doubt_if_measured : doubt_if_assumed;
  const Seconds ideal = std::min(alone, shared.kernels) / double(several.devices.size());
  const Seconds at_worst = ideal + doubt * std::max(Seconds{0}, shared.makespan - ideal);
  if (at_worst < alone) return {};
  return fmt::format(
      "where all matrices are: {} by the estimate; {} are estimated to take {}, but {} "
      "if "
      "the machine moves data {:.0f} times as slowly as described",
      text(alone), gpus_text(topology, several.devices), text(shared.makespan),
      text(at_worst), doubt);
}

}  // namespace tilerail::api
