#include "sched/gemm/tile_scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "sched/gemm/region_planner.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/policy/fields.hpp"
#include "sched/tasks/plan_checks.hpp"
#include "sched/tasks/workspace.hpp"

namespace tilerail {
namespace {

/// The largest number below `too_large` that fits; `fitting` is assumed to.
template <class Fits>
int64_t largest_fitting(int64_t fitting, int64_t too_large, const Fits& fits) {
  while (too_large - fitting > 1) {
    const int64_t middle = fitting + (too_large - fitting) / 2;
    (fits(middle) ? fitting : too_large) = middle;
  }
  return fitting;
}

}  // namespace

TileScheduler::TileScheduler(const Question& question)
    : question_{question},
      problem_{question.problem},
      topology_{question.topology},
      devices_{question.devices},
      capacities_{capacities_for_tiles(question.given, topology_, devices_,
                                       question.policy.choices.memory_fraction)},
      borders_{borders_of(problem_)} {}

Grid TileScheduler::grid() const {
  const bool splits = question_.policy.choices.caching && problem_.has_product() &&
                      !problem_.of_vectors() &&
                      !emulation_of(question_.policy.choices).has_one_queue();
  return grid_of(splits ? layers_for(question_.policy.k_split, int(devices_.size())) : 1);
}

Grid TileScheduler::fitting(Grid grid, int64_t tile) const {
  if (grid.layers == 1) return grid;
  const Decisions decisions = decide(question_, tile, grid);
  const auto regions =
      cut_to_memory({{0, problem_.m}, {0, problem_.n}, {0, problem_.k}}, decisions);
  return fits(regions.front(), decisions) ? grid : grid_of(1);
}

Grid TileScheduler::grid_of(int layers) const {
  const auto gpus = int(devices_.size());
  if (problem_.routine != Routine::gemm) return {gpus / layers, 1, layers};
  const Policy& policy = question_.policy;
  const std::span<const MemoryId> first = devices_.first(size_t(gpus / layers));
  Grid grid = policy.grid == GridChoice::automatic
                  ? automatic_grid(problem_, question_.resources, first,
                                   policy.choices.batch != Batch::off)
              : policy.grid == GridChoice::emulated
                  ? emulation_of(policy.choices).grid(gpus / layers)
                  : square_grid(gpus / layers);
  grid.layers = layers;
  return grid;
}

int64_t TileScheduler::largest_tile() const {
  constexpr int64_t comfortable_slots =
      12;  // docs/model.md#memory: with 7 to 9, only blocks of one tile of C fit
  constexpr int64_t unit = 64;
  const int64_t least = *std::ranges::min_element(capacities_);
  if (problem_.of_vectors())
    return std::max(
        unit, least / comfortable_slots / element_size(problem_.dtype) / unit * unit);
  const bool merges = in_cubes() && question_.policy.choices.ragged ==
                                        Ragged::merged;  // a tile has up to 1.5 T
  const auto fits = [&](int64_t units) {
    const int64_t side = units * unit;
    return slot_of_side(merges ? side + side / 2 : side) <= least / comfortable_slots;
  };
  const int64_t longest = std::max({problem_.m, problem_.n, problem_.k});
  return unit * largest_fitting(1, ceil_div(longest, unit) + 1, fits);
}

/// Bytes of a slot for tiles of this side, cut at the sizes of the problem; for very
/// large tiles more than any memory has.
int64_t TileScheduler::slot_of_side(int64_t side) const {
  constexpr int64_t too_many = int64_t{1} << 62;
  const auto cut = [side](int64_t extent) { return std::min(side, extent); };
  std::array sides{cut(problem_.m), cut(problem_.n), cut(problem_.k)};
  std::ranges::sort(sides);
  if (double(sides[1]) * double(sides[2]) > 1e17) return too_many;
  return slot_bytes(cut(problem_.m), cut(problem_.n), cut(problem_.k), problem_);
}

/// The highest number of layers up to `most`, with equally many GPUs and at least one k
/// each, whose GPUs can send their sums to each other.
int TileScheduler::layers_for(int most, int gpus) const {
  for (int layers = std::min(most, gpus); layers > 1; --layers)
    if (gpus % layers == 0 && layers <= problem_.k && reach_each_other(layers))
      return layers;
  return 1;
}

/// Whether all GPUs that may have the same tile are connected by routes: GPUs at the same
/// position of their layers if all layers are cut equally.
bool TileScheduler::reach_each_other(int layers) const {
  const size_t plane = devices_.size() / size_t(layers);
  const Distribution dealt = question_.policy.choices.distribution;
  const bool equivalent =
      dealt == Distribution::proportional ||
      (dealt == Distribution::blocks && question_.policy.shares == Shares::equal &&
       question_.shares.empty());
  for (const auto i : indices(devices_))
    for (size_t j = equivalent ? i % plane : 0; j < devices_.size();
         j += equivalent ? plane : 1)
      if (i / plane != j / plane && !topology_.has_route(devices_[i], devices_[j]))
        return false;
  return true;
}

Plan TileScheduler::plan(int64_t tile, Grid grid) const {
  return plan(decisions(tile, fitting(grid, tile)));
}

Decisions TileScheduler::decisions(int64_t tile, Grid grid) const {
  Decisions by_policy = decide(question_, tile, grid);
  if (keeps_shape(by_policy)) return by_policy;
  Policy squares = question_.policy;
  squares.choices.tile_rows = TileRows::side,
  squares.choices.tile_depth = TileDepth::side;
  return decide(question_.by(squares), tile, grid);
}

Plan TileScheduler::plan(const Decisions& decisions) const {
  check_kernel_count(kernels(decisions), decisions.choices.tile,
                     question_.policy.choices.tile);
  Plan plan = plan_by(decisions, question_.given, topology_, name_of(question_.policy));
  const bool nothing_to_do = problem_.m == 0 || problem_.n == 0 ||
                             (problem_.scales_only() && problem_.beta == 1);
  if (nothing_to_do) return plan;
  std::vector<TileDirectory::WarmTile> warm;
  if (Plan earlier = plan; emulation_of(decisions.choices).is_warm())
    warm = add_operations(earlier, decisions, {});
  plan.warm = !warm.empty();
  add_operations(plan, decisions, warm);
  if (topology_.description().issue.graph)
    settle_graph(plan, topology_);  // comparisons of plans depend on it
  return plan;
}

namespace {

/// Adds the matrices that the problem uses. Returns the first buffer of each.
std::vector<BufferId> add_tensors(PlanBuilder& builder, const GemmProblem& problem) {
  std::vector<BufferId> tensors(3);
  const auto add = [&](TensorId id) { tensors[id.index()] = builder.add_tensor(id); };
  if (!problem.scales_only()) add(tensor_a);
  if (!problem.scales_only() && problem.has_b()) add(tensor_b);
  add(tensor_c);
  return tensors;
}

Clock::Options clock_for(const Decisions& decisions) {
  const bool in_time = emulation_of(decisions.choices).is_in_model_time();
  return {.per_link = in_time || decisions.choices.routing == Routing::link_eta,
          .pressure = decisions.choices.batch == Batch::tree,
          .engines = in_time,
          .in_time = in_time};
}

}  // namespace

/// Returns the tiles that devices keep from the last region.
std::vector<TileDirectory::WarmTile> TileScheduler::add_operations(
    Plan& plan, const Decisions& decisions,
    std::span<const TileDirectory::WarmTile> from_start) const {
  PlanBuilder builder{plan};
  constexpr double others =
      0.25;  // copies and additions relative to kernels; mostly fewer
  builder.expect(size_t((1 + others) * kernels(decisions)));
  if (decisions.choices.sends == Sends::in_order) builder.send_in_order(topology_.gpus());
  const auto links = link_map_routes(decisions);
  // Tiles used once need no memory to stay.
  const bool used_once = problem_.scales_only() || problem_.of_vectors();
  const Region all{{0, problem_.m}, {0, problem_.n}, {0, problem_.k}};
  const std::vector<Region> regions =
      used_once ? std::vector<Region>{all} : cut_to_memory(all, decisions);
  const bool stay = decisions.choices.caching && !used_once;
  std::string_view after_use = !stay                ? tiles_not_kept
                               : regions.size() > 1 ? tiles_in_cubes
                                                    : tiles_fit;
  KernelCosts costs{topology_};
  const PlanSetup setup{topology_,   question_.resources,
                        decisions,   devices_,
                        capacities_, builder,
                        costs,       add_tensors(builder, problem_),
                        links.get()};
  std::vector<TileDirectory::WarmTile> warm;
  for (const Region& region : regions) {
    if (&region != &regions.front())
      builder.barrier(builder.compute_queue(devices_[0], 0));
    const Tiling tiles = tiling(region, decisions);
    Workspace workspace{setup, clock_for(decisions),
                        slot_for(tiles, used_once, decisions)};
    if (stay && workspace.context().arenas.front().pooled()) after_use = tiles_evicted;
    warm = add_region(
        workspace.context(), tiles, region,
        regions.size() == 1 ? from_start : std::span<const TileDirectory::WarmTile>{});
    workspace.note_peaks(plan);
  }
  plan.origin.decisions.push_back({"tiles", std::string{after_use}});
  return warm;
}

std::vector<TileDirectory::WarmTile> TileScheduler::add_region(
    PlanContext& context, const Tiling& tiles, const Region& region,
    std::span<const TileDirectory::WarmTile> warm) const {
  const Scalar beta =
      region.k.begin == 0 ? scalar_of(problem_.beta, Scalar::beta) : Scalar::one;
  if (problem_.scales_only() || problem_.routine == Routine::axpy)
    return plan_elementwise(context, problem_, tiles, beta),
           std::vector<TileDirectory::WarmTile>{};
  if (problem_.routine == Routine::dot)
    return plan_dot(context, problem_, context.decisions.choices.tile, borders_),
           std::vector<TileDirectory::WarmTile>{};
  return plan_region(context, problem_, tiles, beta, warm);
}

/// The policy's tile cut, whether tiles fit or not.
TileCut TileScheduler::cut_for(const Decisions& decisions) const {
  TileCut how{decisions.choices.tile};
  if (in_cubes())
    how.small = decisions.choices.small_tiles, how.ragged = decisions.choices.ragged;
  if (in_cubes() && decisions.choices.caching)
    how.rows = decisions.choices.tile_rows, how.depth = decisions.choices.tile_depth;
  for (const auto d : indices(devices_))
    if (!has_room(decisions.choices.tile + decisions.choices.tile / 2, d))
      how.ragged = Ragged::own;
  return how;
}

Tiling TileScheduler::tiling(const Region& region, const Decisions& decisions,
                             const TileCut& how) const {
  return {region,           decisions.grid, how, decisions.choices.distribution,
          decisions.shares, borders_};
}

/// If not all tiles fit in memory they are squares, so that slots have similar sizes.
Tiling TileScheduler::tiling(const Region& region, const Decisions& decisions) const {
  TileCut how = cut_for(decisions);
  Tiling tiles = tiling(region, decisions, how);
  if (how.squares() || fit(tiles, decisions)) return tiles;
  how.rows = TileRows::side, how.depth = TileDepth::side;
  return tiling(region, decisions, how);
}

bool TileScheduler::keeps_shape(const Decisions& decisions) const {
  const TileCut how = cut_for(decisions);
  if (decisions.choices.tile_rows != how.rows ||
      decisions.choices.tile_depth != how.depth)
    return false;
  return how.squares() ||
         fit(tiling({{0, problem_.m}, {0, problem_.n}, {0, problem_.k}}, decisions, how),
             decisions);
}

std::shared_ptr<const SharedLinks> TileScheduler::link_map_routes(
    const Decisions& decisions) const {
  if (decisions.choices.routing != Routing::link_map) return nullptr;
  std::vector<MemoryId> read, written;
  const auto add = [](const Layout& place, std::vector<MemoryId>& to) {
    if (!place.is_replicated())
      to.insert(to.end(), place.members().begin(), place.members().end());
  };
  add(problem_.place_a, read);
  add(problem_.place_b, read);
  add(problem_.place_c, written);
  if (problem_.beta != 0) read.insert(read.end(), written.begin(), written.end());
  const auto side = double(decisions.choices.tile);
  const Bytes bytes{side * (problem_.of_vectors() ? 1 : side) *
                    double(element_size(problem_.dtype))};
  return question_.link_routes->of(topology_, {{devices_.begin(), devices_.end()},
                                               read,
                                               written,
                                               bytes.value,
                                               decisions.choices.max_hops,
                                               decisions.choices.hop_rule});
}

double TileScheduler::kernels(const Decisions& decisions) const {
  const auto tiles = [&](int64_t extent) {
    return double(ceil_div(extent, decisions.choices.tile));
  };
  double rows = tiles(problem_.m), depth = std::max(1.0, tiles(problem_.k));
  if (cut_for(decisions).squares() || !keeps_shape(decisions))
    return rows * tiles(problem_.n) * depth;
  if (decisions.choices.tile_rows == TileRows::all)
    rows = std::min<double>(rows, decisions.grid.rows);
  if (decisions.choices.tile_depth == TileDepth::all)
    depth = std::min<double>(depth, decisions.grid.layers);
  if (decisions.choices.tile_depth == TileDepth::growing)
    depth = double(std::max<int64_t>(
        1, decisions.grid.layers *
               growing_tile_count(ceil_div(problem_.k, decisions.grid.layers),
                                  decisions.choices.tile)));
  return rows * tiles(problem_.n) * depth;
}

/// Whether inputs reach some device only over other devices, where they stay.
bool TileScheduler::need_others() const {
  const auto needs = [&](const Layout& place, MemoryId gpu) {
    return !place.is_replicated() &&
           std::ranges::any_of(place.members(), [&](MemoryId home) {
             return !topology_.has_route(home, gpu);
           });
  };
  return std::ranges::any_of(devices_, [&](MemoryId gpu) {
    return needs(problem_.place_a, gpu) || needs(problem_.place_b, gpu);
  });
}

bool TileScheduler::fits(const Region& region, const Decisions& decisions) const {
  return fit(tiling(region, decisions), decisions);
}

bool TileScheduler::fit(const Tiling& tiles, const Decisions& decisions) const {
  const auto need = ample_bytes(tiles, problem_, devices_, decisions, need_others());
  for (const auto d : indices(need))
    if (need[d] > capacities_[d]) return false;
  return true;
}

/// memory=cubes: if tiles do not fit and all matrices are on a host, cubes of the largest
/// fitting side T_L (a multiple of the tile), planned in sequence (thesis 4.2.3.1).
/// Otherwise the whole region; also if C would be rounded after each cube along k.
std::vector<Region> TileScheduler::cut_to_memory(const Region& all,
                                                 const Decisions& decisions) const {
  const bool on_host = homes_on_hosts(problem_, topology_);
  if (decisions.choices.memory != MemoryChoice::cubes || !decisions.choices.caching ||
      !on_host || problem_.rounds() || fits(all, decisions))
    return {all};
  const auto cube = [&](int64_t side) {
    return Region{{0, std::min(side, all.m.end)},
                  {0, std::min(side, all.n.end)},
                  {0, std::min(side, all.k.end)}};
  };
  const int64_t tile = decisions.choices.tile,
                longest_side = std::max({problem_.m, problem_.n, problem_.k});
  const int64_t side =
      tile * largest_fitting(1, ceil_div(longest_side, tile), [&](int64_t tiles) {
        return fits(cube(tiles * tile), decisions);
      });
  std::vector<Region> regions;
  for (const IndexRange m : split_tiles(all.m, side))
    for (const IndexRange n : split_tiles(all.n, side))
      for (const IndexRange k : split_tiles(all.k, side)) regions.push_back({m, n, k});
  return regions;
}

/// Slot size in bytes, if tiles do not all have memory of their own; else 0.
int64_t TileScheduler::slot_for(const Tiling& tiling, bool used_once,
                                const Decisions& decisions) const {
  if (decisions.choices.caching && !used_once && fit(tiling, decisions)) return 0;
  const int64_t slot =
      slot_bytes(longest(tiling.m), longest(tiling.n), longest(tiling.k), problem_);
  const auto least = std::ranges::min_element(capacities_);
  if (*least / slot < least_slots)
    refuse_tile(std::max({longest(tiling.m), longest(tiling.n), longest(tiling.k)}), slot,
                size_t(least - capacities_.begin()));
  return slot;
}

/// Whether the device has memory for the minimum number of tiles of this side.
bool TileScheduler::has_room(int64_t side, size_t device) const {
  return slot_of_side(side) <= capacities_[device] / least_slots;
}

void TileScheduler::refuse_tile(int64_t tile, int64_t slot, size_t device) const {
  const int64_t fitting =
      largest_fitting(0, tile, [&](int64_t side) { return has_room(side, device); });
  const std::string& name = topology_.memory(devices_[device]).name;
  throw InfeasibleError{
      question_.policy.choices.tile > 0 ? "tile" : "automatic tile", std::to_string(tile),
      fmt::format(
          "does not fit: '{}' has {} bytes for tiles, and {} of {} bytes each are needed",
          name, capacities_[device], least_slots, slot),
      fitting > 0 ? fmt::format("at most {}", fitting)
                  : "a larger capacity of that memory"};
}

}  // namespace tilerail
