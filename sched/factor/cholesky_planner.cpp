#include "sched/factor/cholesky_planner.hpp"

#include <numeric>

#include "sched/factor/cholesky_tasks.hpp"
#include "sched/place/list_chooser.hpp"
#include "sched/tasks/loop.hpp"
#include "sched/tasks/shared_tiles.hpp"

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

}  // namespace

Plan plan_cholesky(const GemmProblem& given, const Topology& topology, std::span<const MemoryId> devices,
                   std::int64_t tile) {
  const GemmProblem problem = checked(given);
  const Decisions decisions = decisions_of(devices, tile);
  Plan plan = empty_plan(problem, topology);
  plan.policy = "list";
  plan.tile = tile;
  plan.devices = decisions.devices;
  plan.origin.decisions = to_text(decisions, topology);
  PlanBuilder builder{plan};
  const BufferId matrix = builder.add_buffer(matrix_buffer(problem, Buffer::Kind::matrix_c));
  const Resources resources{topology};
  Clock clock{resources, topology, {devices.size(), true, true, true}};
  KernelCosts costs{topology};
  std::vector<Arena> arenas;
  for (const MemoryId device : devices) {
    const Memory& memory = topology.memory(device);
    const double capacity = memory.capacity ? memory.capacity->value : 1e18;
    arenas.emplace_back(builder, device, memory.name, static_cast<std::int64_t>(capacity), 0);
  }
  PlanContext context{problem, topology, decisions, devices, builder, clock, costs,
                      arenas,  {},       {},        matrix,  nullptr, {}};
  context.last_of_device.resize(devices.size());
  const std::vector<Interval> rows = split_tiles({0, problem.m}, tile);
  TileDirectory directory{context, tiles_of(rows, matrix, problem.place_c, devices.size()),
                          TileDirectory::Writes::some};
  Fetcher fetcher{context, directory};
  SharedTiles outputs{context, fetcher};
  const TaskGraph graph = cholesky_tasks(static_cast<std::int64_t>(rows.size()));
  ListChooser chooser{context, fetcher, graph};
  TaskLoop{context, fetcher, outputs, chooser}.run();
  for (std::size_t d = 0; d < devices.size(); ++d) plan.peak_bytes[devices[d].index()] = arenas[d].peak();
  return plan;
}

}  // namespace tilerail
