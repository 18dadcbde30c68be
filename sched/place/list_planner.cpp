#include "sched/place/list_planner.hpp"

#include <fmt/ranges.h>

#include <numeric>

#include "model/base/indices.hpp"
#include "sched/place/list_chooser.hpp"
#include "sched/place/loop.hpp"
#include "sched/place/shared_tiles.hpp"
#include "sched/tasks/plan_checks.hpp"
#include "sched/tasks/workspace.hpp"

namespace tilerail {
namespace {

Decisions decisions_of(std::span<const MemoryId> devices, int64_t tile) {
  Decisions d;
  d.devices.assign(devices.begin(), devices.end());
  d.shares.assign(devices.size(), 1.0);
  d.grid = {int(devices.size()), 1};
  d.choices.tile = tile, d.choices.routing = Routing::link_eta,
  d.choices.memory_fraction = 0.8;
  return d;
}

std::vector<TileDirectory::Tile> used_by_all(std::vector<TileDirectory::Tile> tiles,
                                             size_t devices) {
  std::vector<size_t> everyone(devices);
  std::iota(everyone.begin(), everyone.end(), 0);
  for (TileDirectory::Tile& tile : tiles) tile.users = everyone;
  return tiles;
}

}  // namespace

Plan plan_by_list(const Problem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, int64_t tile,
                  const TaskProgram& program) {
  check_devices(topology, devices);
  const Decisions decisions = decisions_of(devices, tile);
  const auto capacities =
      capacities_for_tiles(problem, topology, devices, decisions.choices.memory_fraction);
  Plan plan = plan_by(decisions, problem, topology, "list");
  PlanBuilder builder{plan};
  const Resources resources{topology};
  KernelCosts costs{topology};
  std::vector<BufferId> tensors;
  for (const auto i : indices(plan.tensors))
    tensors.push_back(builder.add_tensor(TensorId{i}));
  const PlanSetup setup{topology,   resources, decisions, devices,
                        capacities, builder,   costs,     tensors};
  Workspace workspace{setup, {.per_link = true, .engines = true, .issue = true}, 0};
  PlanContext& context = workspace.context();
  TileDirectory directory{context, used_by_all(program.tiles(tensors), devices.size()),
                          TileDirectory::Writes::some};
  Fetcher fetcher{context, directory};
  SharedTiles outputs{context, fetcher};
  ListChooser chooser{context, fetcher, program.graph, program.owner_computes};
  TaskLoop{context, fetcher, outputs, chooser}.run();
  workspace.note_peaks(plan);
  plan.origin.decisions.push_back(
      {"estimated-kernels", fmt::format("{}", fmt::join(costs.estimated(), ", "))});
  settle_graph(plan, topology);
  return plan;
}

}  // namespace tilerail
