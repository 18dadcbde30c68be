#include "sched/choose/search_space.hpp"

#include <algorithm>
#include <set>

#include "model/base/extents.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/effects.hpp"
#include "sched/policy/fields.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

DeviceSets sets_for(const Question& q) {
  const std::vector<MemoryId> all{q.devices.begin(), q.devices.end()};
  DeviceSets sets{all};
  if (q.policy.device_choice != DeviceChoice::search) return sets;
  const auto add = [&](std::vector<MemoryId> set) {
    if (std::ranges::find(sets, set) == sets.end()) sets.push_back(std::move(set));
  };
  for (std::size_t count = all.size() / 2; count > 0; count /= 2)
    for (auto& set : device_subsets(q.problem, all, count)) add(std::move(set));
  for (auto& set : growing_sets(q)) add(std::move(set));
  constexpr std::size_t few = 4;
  for (std::size_t bits = 1; all.size() <= few && bits < std::size_t{1} << all.size(); ++bits) {
    std::vector<MemoryId> some;
    for (std::size_t d = 0; d < all.size(); ++d)
      if (bits >> d & 1) some.push_back(all[d]);
    add(std::move(some));
  }
  for (auto& island : islands_with_matrices(q)) add(std::move(island));
  for (auto& set : supplied_sets(q)) add(std::move(set));
  return sets;
}

std::vector<std::int64_t> tiles_for(const Question& q, const Plan& start) {
  std::set<std::int64_t> tiles{start.tile};
  const bool any_tile = q.policy.tile == 0 && q.policy.tile_choice == TileChoice::search;
  if (any_tile) {
    const TileScheduler scheduler{q};
    const auto more = tile_candidates(q.problem.m, q.problem.n, q.problem.k, scheduler.grid(), scheduler.largest_tile(),
                                      most_judged_kernels);
    tiles.insert(more.begin(), more.end());
  }
  constexpr std::int64_t narrowest = 512;  // columns of C, for kernels that fill a GPU
  if (any_tile && may_shape(q))
    for (std::int64_t side = narrowest, least = *tiles.begin(); side < least; side *= 2) tiles.insert(side);
  return {tiles.begin(), tiles.end()};
}

bool staging_may_help(const Question& q) {
  constexpr std::size_t most_devices = 64;
  const bool open = q.policy.ways == Ways::search && q.policy.judge_ops > 0 && !overrides(q.policy, "peer-copies");
  if (!open || q.policy.peer_copies != PeerCopies::direct || q.devices.size() > most_devices) return false;
  std::vector<MemoryId> ends{q.devices.begin(), q.devices.end()};
  for (const MemoryId home : {q.problem.place_a, q.problem.place_b, q.problem.place_c})
    if (q.topology.is_gpu(home)) ends.push_back(home);
  return std::ranges::any_of(ends, [&](MemoryId src) {
    return std::ranges::any_of(ends, [&](MemoryId dst) { return faster_over_host(q.topology, src, dst); });
  });
}

bool may_shape(const Question& q) {
  return q.varies("tile-rows") && q.varies("tile-depth") && may_matter(q, "tile-rows");
}

namespace {

std::int64_t tiles_of_k(std::int64_t k, std::int64_t tile, TileDepth depth) {
  if (depth == TileDepth::side || depth == TileDepth::columns) return ceil_div(k, tile);
  return depth == TileDepth::growing ? growing_tile_count(k, tile) : std::min<std::int64_t>(1, k);
}

/// The largest divisor of so many GPUs that is no more than the wish.
int layers_of(int wish, int gpus) {
  int layers = std::clamp(wish, 1, gpus);
  while (gpus % layers != 0) --layers;
  return layers;
}

}  // namespace

std::vector<std::int64_t> ops_for(const Question& q, const std::vector<std::int64_t>& tiles, TileRows tile_rows,
                                  TileDepth tile_depth, int k_split) {
  const GemmProblem& p = q.problem;
  const int gpus = static_cast<int>(q.devices.size()), layers = layers_of(k_split, gpus);
  const Grid grid = square_grid(gpus / layers);
  const int most_pieces = q.policy.batch && may_matter(q, "chunks") ? q.policy.chunks : 1;
  std::vector<std::int64_t> ops;
  for (const std::int64_t tile : tiles) {
    const std::int64_t rows = tile_rows == TileRows::all ? grid.rows : ceil_div(p.m, tile);
    const std::int64_t cols = ceil_div(p.n, tile), depth = tiles_of_k(p.k, tile, tile_depth);
    const std::int64_t height = tile_rows == TileRows::all ? p.m / grid.rows : std::min(tile, p.m);
    const std::int64_t bytes = height * std::min(tile, p.k) * element_size(p.dtype);
    const std::int64_t least = std::max<std::int64_t>(1, q.policy.min_chunk_bytes);
    const std::int64_t pieces = std::clamp<std::int64_t>(bytes / least, 1, most_pieces);
    const auto copies = [&](int users) { return users > 1 ? pieces * users : 1; };  // of a tile
    const std::int64_t kernels = rows * cols * depth;
    ops.push_back(kernels + depth * (rows * copies(grid.cols) + cols * copies(grid.rows)) + rows * cols * layers * 2);
    if (q.policy.tile == 0 && kernels > most_judged_kernels)  // of a tile that is there for other shapes
      ops.back() = std::max(ops.back(), q.policy.judge_ops + 1);
  }
  return ops;
}

std::int64_t ops_for_the_end(const Question& q, const Plan& start) {
  constexpr std::int64_t parts = 4;
  const std::int64_t ops = q.policy.judge_ops / parts;
  const bool may_differ = q.devices.size() > 1 && q.problem.has_product() && q.problem.routine != Routine::dot;
  const bool start_fits = static_cast<std::int64_t>(start.ops.size()) <= q.policy.judge_ops - ops;
  return may_differ && start_fits && q.varies("shares") && q.varies("distribution") ? ops : 0;
}

}  // namespace tilerail
