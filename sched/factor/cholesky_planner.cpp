#include "sched/factor/cholesky_planner.hpp"

#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "sched/factor/cholesky_tasks.hpp"
#include "sched/place/list_planner.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

std::vector<TileDirectory::Tile> tiles_of(const PlanContext& context, int64_t tile) {
  const std::vector<IndexRange> rows = split_tiles({0, context.problem.m}, tile);
  std::vector<TileDirectory::Tile> tiles;
  for (const auto i : indices(rows))
    for (size_t j = 0; j <= i; ++j)
      tiles.push_back({{context.matrix_c, rows[i].begin, rows[j].begin, rows[i].size(),
                        rows[j].size()},
                       context.problem.place_c,
                       {}});
  return tiles;
}

/// Number of potrf, trsm, syrk and gemm kernels for `tiles` tiles per side.
double kernels_of(int64_t tiles) {
  const auto t = double(tiles);
  return t * (t + 1) * (t + 2) / 6;
}

}  // namespace

Plan plan_cholesky(const GemmProblem& given, const Topology& topology,
                   std::span<const MemoryId> devices, int64_t tile) {
  const GemmProblem problem = checked(given);
  const int64_t tiles = ceil_div(problem.m, tile);
  check_kernel_count(kernels_of(tiles), tile, tile);
  return plan_by_list(
      problem, topology, devices, tile,
      {cholesky_tasks(tiles),
       {Buffer::Kind::matrix_c},
       [tile](const PlanContext& context) { return tiles_of(context, tile); }});
}

}  // namespace tilerail
