#include "sched/factor/cholesky_planner.hpp"

#include <numeric>

#include "model/base/extents.hpp"
#include "sched/factor/cholesky_tasks.hpp"
#include "sched/place/list_chooser.hpp"
#include "sched/tasks/loop.hpp"
#include "sched/tasks/plan_checks.hpp"
#include "sched/tasks/shared_tiles.hpp"
#include "sched/tasks/workspace.hpp"

namespace tilerail {
namespace {

std::vector<TileDirectory::Tile> tiles_of(const std::vector<Interval>& rows, BufferId matrix, MemoryId home,
                                          std::size_t devices) {
  std::vector<std::size_t> everyone(devices);
  std::iota(everyone.begin(), everyone.end(), 0);
  std::vector<TileDirectory::Tile> tiles;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      tiles.push_back({{matrix, rows[i].begin, rows[j].begin, rows[i].size(), rows[j].size()}, home, everyone});
  return tiles;
}

Decisions decisions_of(std::span<const MemoryId> devices, std::int64_t tile) {
  Decisions d;
  d.devices.assign(devices.begin(), devices.end());
  d.shares.assign(devices.size(), 1.0);
  d.grid = {static_cast<int>(devices.size()), 1}, d.tile = tile;
  d.routing = Routing::link_eta;
  d.compute_streams = most_automatic_streams;
  return d;
}

/// potrf, trsm, syrk and gemm of so many tiles a side.
double kernels_of(std::int64_t tiles) {
  const auto t = static_cast<double>(tiles);
  return t * (t + 1) * (t + 2) / 6;
}

}  // namespace

Plan plan_cholesky(const GemmProblem& given, const Topology& topology, std::span<const MemoryId> devices,
                   std::int64_t tile) {
  const GemmProblem problem = checked(given);
  check_devices(topology, devices);
  check_kernel_count(kernels_of(ceil_div(problem.m, tile)), tile);
  const Decisions decisions = decisions_of(devices, tile);
  const auto capacities = capacities_for_tiles(problem, topology, devices, decisions.memory_fraction);
  Plan plan = plan_by(decisions, problem, topology, "list");
  PlanBuilder builder{plan};
  const BufferId matrix = builder.add_buffer(matrix_buffer(problem, Buffer::Kind::matrix_c));
  const Resources resources{topology};
  KernelCosts costs{topology};
  Workspace workspace{{problem, topology, resources, decisions, devices, capacities, builder, costs, {}, {}, matrix},
                      {.per_link = true, .engines = true, .issue = true},
                      0};
  PlanContext& context = workspace.context();
  const std::vector<Interval> rows = split_tiles({0, problem.m}, tile);
  TileDirectory directory{context, tiles_of(rows, matrix, problem.place_c, devices.size()),
                          TileDirectory::Writes::some};
  Fetcher fetcher{context, directory};
  SharedTiles outputs{context, fetcher};
  const TaskGraph graph = cholesky_tasks(static_cast<std::int64_t>(rows.size()));
  ListChooser chooser{context, fetcher, graph};
  TaskLoop{context, fetcher, outputs, chooser}.run();
  workspace.note_peaks(plan);
  return plan;
}

}  // namespace tilerail
