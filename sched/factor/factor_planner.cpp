#include "sched/factor/factor_planner.hpp"

#include <algorithm>
#include <set>
#include <string>

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
  const int64_t tile = options.tile, reflectors = options.reflectors;
  check_places(problem, topology, devices);
  if (tile < 1) throw out_of_range("tile", std::to_string(tile), "at least 1");
  if (reflectors < 0)
    throw out_of_range("reflectors", std::to_string(reflectors), "at least 0");
  // Flops of tiles of one element: each kernel has 2, or 4 for a reflector.
  const auto check_count = [&](auto rows, auto cols) {
    FactorProblem of_tiles = problem;
    of_tiles.m = int64_t(rows), of_tiles.n = int64_t(cols);
    const double kernels = of_tiles.flops().value / (is_qr(problem) ? 4 : 2);
    check_kernel_count(kernels, tile, tile);
  };
  check_count(ceil_div(problem.m, tile), ceil_div(problem.n, tile));
  const FactorTiles tiles{problem, tile, reflectors == 0 ? tile : reflectors,
                          borders_of(problem)};
  check_count(tiles.rows.size(), tiles.cols.size());
  return plan_by_list(
      problem, topology, devices, tile,
      {is_qr(problem) ? geqrf_tasks(tiles) : potrf_tasks(tiles),
       [&](std::span<const BufferId> tensors) { return tiles.all(tensors); },
       options.owner_computes});
}

}  // namespace tilerail
