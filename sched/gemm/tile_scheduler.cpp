#include "sched/gemm/tile_scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "cost/estimate.hpp"
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

constexpr int64_t comfortable_slots =
    12;  // docs/model.md#memory: with 7 to 9, only blocks of one tile of C fit

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
                                       question.policy.choices.memory_fraction,
                                       question.policy.whole_memory)},
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
  return fit(tiling(decisions), decisions) ? grid : grid_of(1);
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
  const Distribution distribution = question_.policy.choices.distribution;
  const bool equivalent =
      distribution == Distribution::proportional ||
      (distribution == Distribution::blocks && question_.policy.shares == Shares::equal &&
       question_.shares.empty());
  for (const auto i : indices(devices_))
    for (size_t j = equivalent ? i % plane : 0; j < devices_.size();
         j += equivalent ? plane : 1)
      if (i / plane != j / plane && !topology_.has_route(devices_[i], devices_[j]))
        return false;
  return true;
}

Plan TileScheduler::plan(int64_t tile, Grid grid) const {
  grid = fitting(grid, tile);
  const Decisions own = decisions(tile, grid);
  Plan best = plan(own);
  if (cut_for(own).squares() || fit(tiling(own), own)) return best;
  Plan other = plan(in_squares(tile, grid));
  const auto estimated = [&](const Plan& plan) {
    return estimate_plan(plan, topology_, question_.resources).makespan;
  };
  return estimated(other) < estimated(best) ? other : best;
}

Decisions TileScheduler::decisions(int64_t tile, Grid grid) const {
  Decisions by_policy = decide(question_, tile, grid);
  return keeps_shape(by_policy) ? by_policy : in_squares(tile, grid);
}

Decisions TileScheduler::in_squares(int64_t tile, Grid grid) const {
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

/// Adds operations to a plan with memory of these capacities, in slots unless `slot` is
/// 0.
template <class Run>
auto TileScheduler::with_workspace(Plan& plan, const Decisions& decisions,
                                   std::span<const int64_t> capacities, int64_t slot,
                                   const Run& run) const {
  PlanBuilder builder{plan};
  constexpr double others =
      0.25;  // copies and additions relative to kernels; mostly fewer
  builder.expect(size_t((1 + others) * kernels(decisions)));
  if (decisions.choices.sends == Sends::in_order) builder.send_in_order(topology_.gpus());
  const auto links = link_map_routes(decisions);
  KernelCosts costs{topology_};
  const PlanSetup setup{topology_,  question_.resources,
                        decisions,  devices_,
                        capacities, builder,
                        costs,      add_tensors(builder, problem_),
                        links.get()};
  Workspace workspace{setup, clock_for(decisions), slot};
  auto result = run(workspace.context());
  workspace.note_peaks(plan);
  return result;
}

/// Returns the tiles that devices keep.
std::vector<TileDirectory::WarmTile> TileScheduler::add_operations(
    Plan& plan, const Decisions& decisions,
    std::span<const TileDirectory::WarmTile> from_start) const {
  // Tiles used once need no memory to stay.
  const bool used_once = problem_.scales_only() || problem_.of_vectors();
  const bool stay = decisions.choices.caching && !used_once;
  const Tiling tiles = tiling(decisions);
  const int64_t slot = slot_for(tiles, used_once, decisions);
  plan.origin.decisions.push_back({"tiles", std::string{!stay      ? tiles_not_kept
                                                        : slot > 0 ? tiles_evicted
                                                                   : tiles_fit}});
  if (stay && slot > 0 && !emulation_of(decisions.choices).has_one_queue())
    return add_with_evictions(plan, decisions, tiles, slot),
           std::vector<TileDirectory::WarmTile>{};
  return with_workspace(plan, decisions, capacities_, slot, [&](PlanContext& context) {
    return add_tasks(context, tiles, from_start);
  });
}

int64_t rounded_slots(int64_t slots) {
  constexpr double sizes = 8;  // an octave
  return int64_t(
      std::exp2((std::ceil(sizes * std::log2(double(slots + 1))) - 1) / sizes));
}

/// Of several numbers of steps in a part, takes the plan with the least estimated
/// makespan.
void TileScheduler::add_with_evictions(Plan& plan, const Decisions& decisions,
                                       const Tiling& tiles, int64_t slot) const {
  std::vector<int64_t> slots;
  for (const int64_t capacity : capacities_)
    slots.push_back(std::max(least_slots, rounded_slots(capacity / slot)));
  int64_t depth = 1;
  for (size_t layer = 0; layer < tiles.layers(); ++layer)
    depth = std::max(depth, tiles.depth(layer).size());
  std::optional<Plan> best;
  Seconds least{0};
  constexpr int64_t times = 4;
  for (int64_t steps = 1; steps < times * depth; steps *= times) {
    Plan next = with_evictions(plan, decisions, tiles, slot, slots, steps);
    const Seconds makespan = estimate_plan(next, topology_, question_.resources).makespan;
    if (!best || makespan < least) best = std::move(next), least = makespan;
  }
  plan = *std::move(best);
}

/// The order of tasks follows from a draft with memory for all tiles; then tiles are
/// evicted by their next uses.
Plan TileScheduler::with_evictions(Plan plan, const Decisions& decisions,
                                   const Tiling& tiles, int64_t slot,
                                   const std::vector<int64_t>& slots,
                                   int64_t steps) const {
  const bool in_turn = decisions.choices.order != Order::eta_all &&
                       decisions.choices.order != Order::steps;
  std::vector<std::vector<Share>> parts;
  std::vector<int64_t> capacities;
  for (const auto d : indices(devices_)) {
    parts.push_back(parts_of(tiles, d, slots[d], steps, in_turn));
    capacities.push_back(slots[d] * slot);
  }
  Plan draft = plan;
  const std::vector<int64_t> no_limit(devices_.size(), most_matrix_bytes);
  TaskOrder order =
      with_workspace(draft, decisions, no_limit, 0, [&](PlanContext& context) {
        return order_in_parts(context, problem_, tiles, std::move(parts));
      });
  with_workspace(plan, decisions, capacities, slot, [&](PlanContext& context) {
    return plan_in_order(context, problem_, tiles, std::move(order));
  });
  return plan;
}

std::vector<TileDirectory::WarmTile> TileScheduler::add_tasks(
    PlanContext& context, const Tiling& tiles,
    std::span<const TileDirectory::WarmTile> warm) const {
  const Scalar beta = scalar_of(problem_.beta, Scalar::beta);
  if (problem_.scales_only() || problem_.routine == Routine::axpy)
    return plan_elementwise(context, problem_, tiles, beta),
           std::vector<TileDirectory::WarmTile>{};
  if (problem_.routine == Routine::dot)
    return plan_dot(context, problem_, context.decisions.choices.tile, borders_),
           std::vector<TileDirectory::WarmTile>{};
  return plan_product(context, problem_, tiles, warm);
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

Tiling TileScheduler::tiling(const Decisions& decisions, const TileCut& how) const {
  return {{{0, problem_.m}, {0, problem_.n}, {0, problem_.k}},
          decisions.grid,
          how,
          decisions.choices.distribution,
          decisions.shares,
          borders_};
}

/// Squares if memory has too few slots for other tiles.
Tiling TileScheduler::tiling(const Decisions& decisions) const {
  TileCut how = cut_for(decisions);
  Tiling tiles = tiling(decisions, how);
  if (how.squares() || keeps(tiles, decisions)) return tiles;
  how.rows = TileRows::side, how.depth = TileDepth::side;
  return tiling(decisions, how);
}

bool TileScheduler::keeps_shape(const Decisions& decisions) const {
  const TileCut how = cut_for(decisions);
  if (decisions.choices.tile_rows != how.rows ||
      decisions.choices.tile_depth != how.depth)
    return false;
  return how.squares() || keeps(tiling(decisions, how), decisions);
}

bool TileScheduler::keeps(const Tiling& tiles, const Decisions& decisions) const {
  return fit(tiles, decisions) || comfortable_slots * largest_slot(tiles) <=
                                      *std::ranges::min_element(capacities_);
}

/// Several k may share a tile of A or B.
int64_t TileScheduler::largest_slot(const Tiling& tiles) const {
  int64_t depth = 0;
  for (const auto k : indices(tiles.k)) {
    const auto [begin, end] = tiles.column_of(int64_t(k));
    depth = std::max(depth, tiles.k[size_t(end) - 1].end - tiles.k[size_t(begin)].begin);
  }
  const auto slot = [&](int64_t k) {
    return slot_bytes(longest(tiles.m), longest(tiles.n), k, problem_);
  };
  return std::max(slot(depth), slot(longest(tiles.k)));  // sums of C: the latter
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

bool TileScheduler::fit(const Tiling& tiles, const Decisions& decisions) const {
  const auto need = ample_bytes(tiles, problem_, devices_, decisions, need_others());
  for (const auto d : indices(need))
    if (need[d] > capacities_[d]) return false;
  return true;
}

/// Slot size in bytes, if tiles do not all have memory of their own; else 0.
int64_t TileScheduler::slot_for(const Tiling& tiling, bool used_once,
                                const Decisions& decisions) const {
  if (decisions.choices.caching && !used_once && fit(tiling, decisions)) return 0;
  const int64_t slot = largest_slot(tiling);
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
