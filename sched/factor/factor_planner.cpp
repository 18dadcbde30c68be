#include "sched/factor/factor_planner.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "sched/factor/factor_tasks.hpp"
#include "sched/place/list_planner.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

bool is_qr(const FactorProblem& problem) {
  return problem.kind == FactorProblem::Kind::geqrf;
}

double kernels_of(const FactorProblem& problem, int64_t rows, int64_t cols) {
  return is_qr(problem) ? geqrf_kernels(rows, cols) : potrf_kernels(rows);
}

/// First rows and columns of blocks: rows and columns are cut at both, so that tiles on
/// the diagonal are square.
std::vector<int64_t> borders_of(const FactorProblem& problem) {
  std::set<int64_t> borders;
  for (const MatrixBlock& block : problem.place.blocks(problem.m, problem.n))
    borders.insert({block.row, block.col});
  return {borders.begin(), borders.end()};
}

}  // namespace

Plan plan_factorisation(const FactorProblem& given, const Topology& topology,
                        std::span<const MemoryId> devices, const FactorOptions& options) {
  const FactorProblem problem = checked(given);
  const auto [tile, reflectors, owner_computes] = options;
  check_devices(topology, devices);
  check_places(problem, topology, devices);
  for (const auto& [field, value, least] :
       {std::tuple{"tile", tile, 1}, std::tuple{"reflectors", reflectors, 0}})
    if (value < least)
      throw out_of_range(field, std::to_string(value),
                         "at least " + std::to_string(least));
  check_kernel_count(
      kernels_of(problem, ceil_div(problem.m, tile), ceil_div(problem.n, tile)), tile,
      tile);
  const FactorTiles tiles{problem, tile, reflectors == 0 ? tile : reflectors,
                          borders_of(problem)};
  check_kernel_count(
      kernels_of(problem, int64_t(tiles.rows.size()), int64_t(tiles.cols.size())), tile,
      tile);
  return plan_by_list(
      problem, topology, devices, tile,
      {is_qr(problem) ? geqrf_tasks(tiles) : potrf_tasks(tiles),
       [&](std::span<const BufferId> tensors) { return tiles.all(tensors); },
       owner_computes});
}

}  // namespace tilerail
