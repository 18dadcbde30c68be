#include "sched/choose/timed_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cost/estimate.hpp"
#include "sched/choose/library_tiles.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/tile_choice.hpp"

namespace tilerail {
namespace {

std::vector<std::int64_t> rule_of(const Question& q, Grid grid, std::int64_t largest) {
  constexpr std::size_t best = 1, timed = 5;  // as PARALiA-GEMMex times
  const GemmProblem& p = q.problem;
  switch (q.policy.tile_choice) {
    case TileChoice::gemmex:
      return gemmex_tiles(p.m, p.n, p.k, grid, largest, best);
    case TileChoice::repeat:
      return gemmex_tiles(p.m, p.n, p.k, grid, largest, timed);
    case TileChoice::paralia:
      return {paralia_tile(p.m, p.n, p.k, grid.gpus())};
    case TileChoice::cublasxt:
      return cublasxt_tiles(p.m, p.n, p.k, most_judged_kernels);
    case TileChoice::xkblas:
      return {xkblas_tile(p.m, p.n, grid.gpus())};
    default:
      return {};
  }
}

}  // namespace

std::vector<std::int64_t> library_tiles(const Question& q, const TileScheduler& scheduler, Grid grid) {
  if (q.problem.routine != Routine::gemm || !q.problem.has_product()) return {};
  const std::int64_t largest = scheduler.largest_tile();
  std::vector<std::int64_t> tiles;
  for (const std::int64_t tile : rule_of(q, grid, largest))
    if (std::ranges::find(tiles, std::min(tile, largest)) == tiles.end()) tiles.push_back(std::min(tile, largest));
  return tiles;
}

bool times_tiles(const Question& q) {
  const Policy& policy = q.policy;
  const bool several = policy.tile_choice == TileChoice::repeat || policy.tile_choice == TileChoice::cublasxt;
  if (!several || policy.choices.tile > 0 || policy.device_choice == DeviceChoice::search ||
      policy.ways == Ways::search)
    return false;
  const TileScheduler scheduler{q};
  return library_tiles(q, scheduler, scheduler.grid()).size() > 1;
}

Plan timed_plan(const Question& q, const Judge& judge) {
  const TileScheduler scheduler{q};
  const Grid grid = scheduler.grid();
  std::vector<Plan> plans;
  std::size_t ops = 0;
  for (const std::int64_t tile : library_tiles(q, scheduler, grid)) {
    plans.push_back(scheduler.plan(tile, grid));
    ops += plans.back().ops.size();
  }
  const bool judged = q.judged && judge.of && static_cast<std::int64_t>(ops) <= q.policy.judge_ops;
  std::vector<PlanCandidate> tried;
  for (const Plan& plan : plans) {
    const Seconds time = judged ? judge.of(plan).makespan : estimate_plan(plan, q.topology, q.resources).makespan;
    tried.push_back(
        {fmt::format("tile={} grid={} gpus={}", plan.tile, grid.text(), gpus_text(q.topology, plan.devices)),
         time.value, judged ? "simulator" : "estimate"});
  }
  const auto best = std::ranges::min_element(tried, {}, &PlanCandidate::seconds) - tried.begin();
  Plan plan = std::move(plans[static_cast<std::size_t>(best)]);
  plan.origin.judge = tried.front().judge;
  plan.origin.why = fmt::format("{}: the fastest of the {} timed, by the {}",
                                tried[static_cast<std::size_t>(best)].what, tried.size(), tried.front().judge);
  plan.origin.candidates = std::move(tried);
  return plan;
}

}  // namespace tilerail
