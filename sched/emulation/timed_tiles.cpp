#include <fmt/format.h>

#include <algorithm>

#include "cost/estimate.hpp"
#include "model/base/extents.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/emulation/library_tiles.hpp"
#include "sched/emulation/overlap_gemm.hpp"
#include "sched/emulation/profile.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {
namespace {

std::vector<int64_t> rule_of(const Question& q, TileRule rule, Grid grid,
                             int64_t largest) {
  constexpr size_t best = 1, timed = 5;  // as many as PARALiA-GEMMex times
  const GemmProblem& p = q.problem;
  switch (rule) {
    case TileRule::gemmex:
      return gemmex_tiles(p.m, p.n, p.k, grid, largest, best);
    case TileRule::repeat:
      return gemmex_tiles(p.m, p.n, p.k, grid, largest, timed);
    case TileRule::paralia:
      return {paralia_tile(p.m, p.n, p.k, grid.gpus())};
    case TileRule::cublasxt:
      return cublasxt_tiles(p.m, p.n, p.k, most_candidate_kernels);
    case TileRule::xkblas:
      return {xkblas_tile(p.m, p.n, grid.gpus())};
    default:
      return {};
  }
}

/// The GPU with the most tiles determines the time, and every tile counts as a full one.
int64_t best_even_tile(const GemmProblem& p, OverlapModel model,
                       const OverlapProblem& overlap, const std::vector<int64_t>& tiles,
                       Grid grid) {
  const auto time = [&](int64_t tile) {
    const int64_t rows = ceil_div(ceil_div(p.m, tile), grid.rows) * tile;
    const int64_t cols = ceil_div(ceil_div(p.n, tile), grid.cols) * tile;
    const double most = double(rows * cols * grid.rows * grid.cols);
    return predicted_time(model, overlap, double(tile)) * most;
  };
  return *std::min_element(tiles.rbegin(), tiles.rend(),
                           [&](auto a, auto b) { return time(a) < time(b); });
}

/// The model is applied to the part of one GPU.
int64_t tile_of_model(const Question& q, OverlapModel model, Grid grid, int64_t largest) {
  const GemmProblem& p = q.problem;
  const int64_t depth = p.routine == Routine::dot ? largest_piece(p.k, grid.rows) : p.k;
  GemmProblem part = p;
  part.m = ceil_div(p.m, grid.rows), part.n = ceil_div(p.n, grid.cols),
  part.k = largest_piece(depth, grid.layers);
  const OverlapProblem overlap = overlap_problem(part, q.topology, q.devices[0]);
  const auto tiles = overlap_tiles(part, largest);
  const bool even = p.routine == Routine::gemm && q.devices.size() > 1;
  return even ? best_even_tile(p, model, overlap, tiles, grid)
              : best_tile(model, overlap, tiles);
}

}  // namespace

std::vector<int64_t> LibraryEmulation::tiles(const Question& q,
                                             const TileScheduler& scheduler,
                                             Grid grid) const {
  const int64_t largest = scheduler.largest_tile();
  if (!q.problem.has_product()) return {};
  if (profile.tile_rule == TileRule::model)
    return {tile_of_model(q, profile.tile_model, grid, largest)};
  if (q.problem.routine != Routine::gemm) return {};
  std::vector<int64_t> tiles;
  for (const int64_t tile : rule_of(q, profile.tile_rule, grid, largest))
    if (std::ranges::find(tiles, std::min(tile, largest)) == tiles.end())
      tiles.push_back(std::min(tile, largest));
  return tiles;
}

/// Emulates a library, or a user, that times several tiles over its first calls and keeps
/// the fastest. Simulates the plans if the question is simulated and all plans together
/// have no more operations than the policy lets it simulate, else uses the estimate. For
/// given devices and fixed options only.
std::optional<Plan> LibraryEmulation::timed_plan(const Question& q,
                                                 const PlanSimulator& simulator) const {
  const Policy& policy = q.policy;
  const bool several =
      profile.tile_rule == TileRule::repeat || profile.tile_rule == TileRule::cublasxt;
  if (!several || policy.tile_choice != TileChoice::emulated || policy.choices.tile > 0)
    return std::nullopt;
  if (policy.device_choice == DeviceChoice::search || varies_fields(policy.effort))
    return std::nullopt;
  const TileScheduler scheduler{q};
  const Grid grid = scheduler.grid();
  const std::vector<int64_t> sides = tiles(q, scheduler, grid);
  if (sides.size() < 2) return std::nullopt;
  std::vector<Plan> plans;
  size_t ops = 0;
  for (const int64_t tile : sides) {
    plans.push_back(scheduler.plan(tile, grid));
    ops += plans.back().ops.size();
  }
  const bool simulated =
      q.simulated && simulator.of && int64_t(ops) <= operations_of(policy.effort);
  const Evaluator by = simulated ? Evaluator::simulator : Evaluator::estimate;
  std::vector<PlanCandidate> tried;
  for (const Plan& plan : plans) {
    const Seconds time = simulated
                             ? simulator.of(plan).makespan
                             : estimate_plan(plan, q.topology, q.resources).makespan;
    tried.push_back({fmt::format("tile={} grid={} gpus={}", plan.tile, grid.text(),
                                 gpus_text(q.topology, plan.devices)),
                     time.value, by});
  }
  const auto best =
      std::ranges::min_element(tried, {}, &PlanCandidate::seconds) - tried.begin();
  Plan plan = std::move(plans[size_t(best)]);
  plan.origin.evaluator = by;
  plan.origin.reasons = {{PlanReason::fastest, size_t(best), tried.size()}};
  plan.origin.candidates = std::move(tried);
  return plan;
}

}  // namespace tilerail
