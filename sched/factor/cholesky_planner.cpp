#include "sched/factor/cholesky_planner.hpp"

#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "sched/factor/cholesky_tasks.hpp"
#include "sched/place/list_planner.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

std::vector<TileDirectory::Tile> tiles_of(BufferId matrix, int64_t n, int64_t tile) {
  const std::vector<IndexRange> rows = split_tiles({0, n}, tile);
  std::vector<TileDirectory::Tile> tiles;
  for (const auto i : indices(rows))
    for (size_t j = 0; j <= i; ++j)
      tiles.push_back(
          {{matrix, rows[i].begin, rows[j].begin, rows[i].size(), rows[j].size()}, {}});
  return tiles;
}

/// Number of potrf, trsm, syrk and gemm kernels for `tiles` tiles per side.
double kernels_of(int64_t tiles) {
  const auto t = double(tiles);
  return t * (t + 1) * (t + 2) / 6;
}

}  // namespace

Plan plan_cholesky(const FactorProblem& given, const Topology& topology,
                   std::span<const MemoryId> devices, int64_t tile) {
  const FactorProblem problem = checked(given);
  const int64_t tiles = ceil_div(problem.m, tile);
  check_kernel_count(kernels_of(tiles), tile, tile);
  return plan_by_list(problem, topology, devices, tile,
                      {cholesky_tasks(tiles), [&](std::span<const BufferId> tensors) {
                         return tiles_of(tensors.front(), problem.n, tile);
                       }});
}

}  // namespace tilerail
