#include "sched/choose/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "sched/choose/tile_choice.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/policy.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

DeviceSets sets_for(const Question& q) {
  const std::vector<MemoryId> all{q.devices.begin(), q.devices.end()};
  DeviceSets sets{all};
  if (q.policy.device_choice != DeviceChoice::search) return sets;
  const auto add = [&](std::vector<MemoryId> set) {
    if (std::ranges::find(sets, set) == sets.end()) sets.push_back(std::move(set));
  };
  for (size_t count = all.size() / 2; count > 0; count /= 2)
    for (auto& set : device_subsets(q.problem, all, count)) add(std::move(set));
  for (auto& set : growing_sets(q)) add(std::move(set));
  constexpr size_t few = 4;
  for (size_t bits = 1; all.size() <= few && bits < size_t{1} << all.size(); ++bits) {
    std::vector<MemoryId> some;
    for (size_t d = 0; d < all.size(); ++d)
      if (bits >> d & 1) some.push_back(all[d]);
    add(std::move(some));
  }
  for (auto& island : islands_with_matrices(q)) add(std::move(island));
  for (auto& set : supplied_sets(q)) add(std::move(set));
  const auto capacity = [&](MemoryId gpu) {
    return q.topology.memory(gpu).capacity.value_or(Bytes{INFINITY}).value;
  };
  const double largest = capacity(*std::ranges::max_element(all, {}, capacity));
  std::vector<MemoryId> roomy;
  std::ranges::copy_if(all, std::back_inserter(roomy),
                       [&](MemoryId gpu) { return 2 * capacity(gpu) >= largest; });
  add(std::move(roomy));
  return sets;
}

namespace {

/// Whether plans with non-square tiles are also tried, if all tiles fit in memory.
bool may_shape(const Question& q) {
  const bool shapes = q.problem.routine == Routine::gemm && q.problem.has_product() &&
                      q.policy.choices.caching;
  return shapes && q.varies("tile-rows") && q.varies("tile-depth");
}

}  // namespace

std::vector<int64_t> tiles_for(const Question& q, const Plan& start) {
  std::set<int64_t> tiles{start.tile};
  if (any_tile(q.policy)) {
    const TileScheduler scheduler{q};
    const auto more =
        tile_candidates(q.problem.m, q.problem.n, q.problem.k, scheduler.grid(),
                        scheduler.largest_tile(), most_candidate_kernels);
    tiles.insert(more.begin(), more.end());
  }
  constexpr int64_t narrowest =
      512;  // columns of C, the minimum for kernels that fill a GPU
  if (any_tile(q.policy) && may_shape(q))
    for (int64_t side = narrowest, least = *tiles.begin(); side < least; side *= 2)
      tiles.insert(side);
  return {tiles.begin(), tiles.end()};
}

bool staging_may_help(const Question& q) {
  constexpr size_t most_devices = 64;
  if (!may_change(q.policy, "peer-copies") ||
      q.policy.choices.peer_copies != PeerCopies::direct ||
      q.devices.size() > most_devices)
    return false;
  std::vector<MemoryId> ends{q.devices.begin(), q.devices.end()};
  for (const MemoryId home : homes_of(q.problem))
    if (q.topology.is_gpu(home)) ends.push_back(home);
  return std::ranges::any_of(ends, [&](MemoryId src) {
    return std::ranges::any_of(
        ends, [&](MemoryId dst) { return faster_over_host(q.topology, src, dst); });
  });
}

}  // namespace tilerail
