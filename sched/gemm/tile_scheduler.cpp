#include "sched/gemm/tile_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "model/base/error.hpp"
#include "sched/gemm/dot_planner.hpp"
#include "sched/gemm/elementwise.hpp"
#include "sched/gemm/region_planner.hpp"

namespace tilerail {
namespace {

constexpr std::int64_t no_limit = std::int64_t{1} << 60;

std::int64_t tiling_tile(const Tiling& tiling) {
  std::int64_t tile = 0;
  for (const auto* tiles : {&tiling.m, &tiling.n, &tiling.k})
    for (const Interval t : *tiles) tile = std::max(tile, t.size());
  return tile;
}

}  // namespace

TileScheduler::TileScheduler(const GemmProblem& problem, const Topology& topology, const Resources& resources,
                             std::span<const MemoryId> devices, const Policy& policy, std::vector<double> shares)
    : problem_{problem},
      topology_{topology},
      resources_{resources},
      devices_{devices},
      policy_{policy},
      shares_{std::move(shares)} {
  const bool shares_home = problem.place_c == problem.place_a || problem.place_c == problem.place_b;
  lazy_ = policy.c_tiles == CTiles::lazy || (policy.c_tiles == CTiles::automatic && shares_home);
  const std::vector<MemoryNeed> matrices = memory_needs(problem, topology.memories().size());
  check_capacities(matrices, topology, "--place");
  for (const MemoryId device : devices) capacities_.push_back(capacity_for_tiles(device, matrices[device.index()]));
}

Grid TileScheduler::grid() const {
  if (problem_.routine != Routine::gemm) return {static_cast<int>(devices_.size()), 1};
  return policy_.grid == GridChoice::automatic ? automatic_grid(problem_, topology_, devices_, policy_.batch)
                                               : square_grid(static_cast<int>(devices_.size()));
}

std::int64_t TileScheduler::largest_tile() const {
  constexpr double comfortable_slots = 12;
  const std::int64_t least = *std::min_element(capacities_.begin(), capacities_.end());
  const double elements =
      static_cast<double>(least) / comfortable_slots / static_cast<double>(element_size(problem_.dtype));
  const double side = problem_.of_vectors() ? elements : std::sqrt(elements);
  return std::max<std::int64_t>(64, static_cast<std::int64_t>(side) / 64 * 64);
}

Plan TileScheduler::plan(std::int64_t tile, Grid grid_shape) const {
  check_kernels(tile);
  Plan plan;
  plan.problem = problem_;
  plan.machine = topology_.name();
  for (const Memory& memory : topology_.memories()) plan.memories.push_back(memory.name);
  plan.policy = policy_.name;
  plan.tile = tile;
  plan.devices.assign(devices_.begin(), devices_.end());
  plan.single_issuer = policy_.single_issuer;
  plan.peak_bytes.assign(topology_.memories().size(), 0);
  PlanBuilder builder{plan};
  const Policy policy = resolved(tile);
  if (policy.sends == Sends::in_order) builder.send_in_order(topology_.gpus());
  const bool scaling = problem_.alpha == 0 || problem_.k == 0;
  const Region all{{0, problem_.m}, {0, problem_.n}, {0, problem_.k}};
  if (problem_.m == 0 || problem_.n == 0 || (scaling && problem_.beta == 1)) return plan;

  BufferId a{}, b{};
  if (!scaling) {
    a = builder.add_buffer(
        {Buffer::Kind::matrix_a, problem_.place_a, problem_.rows_a(), problem_.cols_a(), problem_.lda, 0});
    if (problem_.has_b())
      b = builder.add_buffer(
          {Buffer::Kind::matrix_b, problem_.place_b, problem_.rows_b(), problem_.cols_b(), problem_.ldb, 0});
  }
  const BufferId c =
      builder.add_buffer({Buffer::Kind::matrix_c, problem_.place_c, problem_.m, problem_.n, problem_.ldc, 0});

  const std::optional<LinkMap> map =
      policy.routing == Routing::link_map ? std::optional{LinkMap{topology_}} : std::nullopt;
  std::optional<SharedLinks> links;
  if (map) links.emplace(link_map_routes(*map, tile));
  // What is used once needs no room to stay.
  const bool used_once = scaling || problem_.of_vectors();
  const std::vector<Region> regions =
      used_once ? std::vector<Region>{all} : cut_to_memory(all, tile, grid_shape, policy);
  for (const Region& region : regions) {
    if (&region != &regions.front()) builder.barrier(builder.compute_queue(devices_[0], 0));
    const Tiling tiles = tiling(region, tile, grid_shape);
    LinkClock clock{resources_, topology_.memories().size(), policy_.routing == Routing::link_eta};
    std::vector<Arena> arenas = make_arenas(builder, tiles, used_once, policy);
    PlanContext context{
        problem_, topology_, policy, devices_, builder, clock, arenas, a, b, c, links ? &*links : nullptr, {}};
    context.last_of_device.resize(devices_.size());
    const double beta = region.k.begin == 0 ? problem_.beta : 1.0;
    if (scaling || problem_.routine == Routine::axpy)
      plan_elementwise(context, tiles, beta);
    else if (problem_.routine == Routine::dot)
      plan_dot(context, tile);
    else
      plan_region(context, tiles, beta, lazy_);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      std::int64_t& peak = plan.peak_bytes[devices_[d].index()];
      peak = std::max(peak, arenas[d].peak());
    }
  }
  return plan;
}

/// Kernels that fill a GPU run one after another, in whatever stream they are. Where one leaves room, as many streams
/// as it takes to fill the GPU, up to as many as the other presets have.
Policy TileScheduler::resolved(std::int64_t tile) const {
  Policy policy = policy_;
  if (policy.compute_streams > 0) return policy;
  double least = 1;
  const GemmProblem& p = problem_;
  const std::int64_t rows = std::min(tile, p.m), cols = std::min(tile, p.n), depth = std::min(tile, p.k);
  for (const MemoryId device : devices_) {
    const KernelTimes& kernels = topology_.kernels_of(device);
    least = std::min(least, p.routine == Routine::gemv && p.alpha != 0 && depth > 0
                                ? kernels.gemm_occupancy(rows, cols, depth, p.dtype, p.trans_a, p.trans_b)
                                : kernels.occupancy(rows, cols));
  }
  policy.compute_streams = std::clamp(static_cast<int>(std::ceil(1 / least)), 1, Policy{}.compute_streams);
  return policy;
}

/// In proportion to what devices compute in a second, by kernels of this tile.
std::vector<double> TileScheduler::shares_for(std::int64_t tile) const {
  if (!shares_.empty()) return shares_;
  std::vector<double> shares(devices_.size(), 1.0);
  const GemmProblem& p = problem_;
  const bool scaling = p.alpha == 0 || p.k == 0;
  if (policy_.shares == Shares::equal || scaling) return shares;
  for (std::size_t d = 0; d < devices_.size(); ++d)
    shares[d] =
        1 / topology_.kernels_of(devices_[d])
                .gemm_time(std::min(tile, p.m), std::min(tile, p.n), std::min(tile, p.k), p.dtype, p.trans_a, p.trans_b)
                .value;
  return shares;
}

Tiling TileScheduler::tiling(const Region& region, std::int64_t tile, Grid grid_shape) const {
  return {region, grid_shape, tile, policy_.distribution, shares_for(tile)};
}

SharedLinks TileScheduler::link_map_routes(const LinkMap& map, std::int64_t tile) const {
  std::vector<MemoryId> read{problem_.place_a, problem_.place_b};
  if (problem_.beta != 0) read.push_back(problem_.place_c);
  const auto side = static_cast<double>(tile);
  const double bytes = side * (problem_.of_vectors() ? 1 : side) * static_cast<double>(element_size(problem_.dtype));
  SharedLinks links{map, devices_, read, std::span{&problem_.place_c, 1}, bytes, policy_.max_hops};
  std::vector<std::size_t> all(devices_.size());
  std::iota(all.begin(), all.end(), 0);
  links.activate(all);
  return links;
}

/// A plan lists every kernel: the most that is allowed takes about a minute and some gigabytes to plan.
void TileScheduler::check_kernels(std::int64_t tile) const {
  constexpr double most = 1 << 23;
  const auto tiles = [&](std::int64_t extent) { return static_cast<double>((extent + tile - 1) / tile); };
  const double kernels = tiles(problem_.m) * tiles(problem_.n) * std::max(1.0, tiles(problem_.k));
  if (kernels > most)
    throw InputError{"--tile " + std::to_string(tile) + ": cuts the problem into " +
                     std::to_string(static_cast<std::int64_t>(std::min(kernels, 1e18))) +
                     " kernels; a plan holds at most " + std::to_string(static_cast<std::int64_t>(most))};
}

/// What the policy lets tiles take, and no more than the matrices that live there leave.
std::int64_t TileScheduler::capacity_for_tiles(MemoryId device, const MemoryNeed& need) const {
  const Memory& memory = topology_.memory(device);
  if (!memory.capacity) return no_limit;
  const double left = memory.capacity->value - need.matrices;
  return static_cast<std::int64_t>(std::min(left, policy_.memory_fraction * memory.capacity->value));
}

bool TileScheduler::fits(const Region& region, std::int64_t tile, Grid grid_shape, const Policy& policy) const {
  const auto need = ample_bytes(tiling(region, tile, grid_shape), problem_, devices_, policy, lazy_);
  for (std::size_t d = 0; d < need.size(); ++d)
    if (need[d] > capacities_[d]) return false;
  return true;
}

/// memory=cubes: where tiles would not fit and all matrices are on a host, cubes of the largest side T_L (a multiple
/// of the tile) that does fit, to be run one after another (thesis 4.2.3.1). Otherwise the whole region.
std::vector<Region> TileScheduler::cut_to_memory(const Region& all, std::int64_t tile, Grid grid_shape,
                                                 const Policy& policy) const {
  const bool on_host =
      topology_.is_host(problem_.place_a) && topology_.is_host(problem_.place_b) && topology_.is_host(problem_.place_c);
  if (policy_.memory != MemoryChoice::cubes || !policy_.caching || !on_host || fits(all, tile, grid_shape, policy))
    return {all};
  const auto cube = [&](std::int64_t side) {
    return Region{{0, std::min(side, all.m.end)}, {0, std::min(side, all.n.end)}, {0, std::min(side, all.k.end)}};
  };
  const std::int64_t longest = std::max({problem_.m, problem_.n, problem_.k});
  std::int64_t low = 1, high = (longest + tile - 1) / tile;  // in tiles; fits(low) is assumed, fits(high) is false
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(cube(middle * tile), tile, grid_shape, policy) ? low : high) = middle;
  }
  std::vector<Region> regions;
  const std::int64_t side = low * tile;
  for (const Interval m : split_tiles(all.m, side))
    for (const Interval n : split_tiles(all.n, side))
      for (const Interval k : split_tiles(all.k, side)) regions.push_back({m, n, k});
  return regions;
}

std::vector<Arena> TileScheduler::make_arenas(PlanBuilder& builder, const Tiling& tiling, bool used_once,
                                              const Policy& policy) const {
  bool pooled = !policy_.caching || used_once;
  if (!pooled) {
    const auto need = ample_bytes(tiling, problem_, devices_, policy, lazy_);
    for (std::size_t d = 0; d < devices_.size(); ++d) pooled = pooled || need[d] > capacities_[d];
  }
  const std::int64_t slot = pooled ? slot_bytes(tiling, problem_) : 0;
  std::vector<Arena> arenas;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::string& name = topology_.memory(devices_[d]).name;
    if (pooled && capacities_[d] / slot < least_slots)
      throw InputError{"--tile " + std::to_string(tiling_tile(tiling)) + ": " + std::to_string(least_slots) +
                       " tiles of " + std::to_string(slot) + " bytes do not fit in the " +
                       std::to_string(capacities_[d]) + " bytes that '" + name + "' has for tiles"};
    arenas.emplace_back(builder, devices_[d], name, capacities_[d], slot);
  }
  return arenas;
}

}  // namespace tilerail
