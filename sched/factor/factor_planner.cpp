#include "sched/factor/factor_planner.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "model/base/contains.hpp"
#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
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
std::vector<int64_t> borders_of(const FactorProblem& problem,
                                const std::optional<Layout>& owners) {
  std::set<int64_t> borders;
  for (const Layout& layout : {problem.place, owners.value_or(problem.place)})
    for (const MatrixBlock& block : layout.blocks(problem.m, problem.n))
      borders.insert({block.row, block.col});
  return {borders.begin(), borders.end()};
}

void check_owners(FactorProblem problem, const Layout& owners, const Topology& topology,
                  std::span<const MemoryId> devices) {
  problem.place = owners;
  check_places(problem, topology, devices);
  for (const MemoryId owner : owners.members())
    if (!contains(devices, owner))
      throw InputError{"owners", topology.memory(owner).name,
                       "is not a device of the plan", "devices"};
}

/// The indices of the tiles' owners among the devices.
std::vector<size_t> owners_of(const FactorProblem& problem,
                              std::span<const MemoryId> devices, const Layout& layout,
                              const FactorTiles& tiles) {
  std::vector<size_t> owners(tiles.rows.size() * tiles.cols.size());
  const auto at = [](const std::vector<IndexRange>& cuts, int64_t begin) {
    return size_t(std::ranges::lower_bound(cuts, begin, {}, &IndexRange::begin) -
                  cuts.begin());
  };
  for (const MatrixBlock& b : layout.blocks(problem.m, problem.n)) {
    const auto device = std::ranges::find(devices, b.memory);
    for (size_t i = at(tiles.rows, b.row); i < at(tiles.rows, b.row + b.rows); ++i)
      for (size_t j = at(tiles.cols, b.col); j < at(tiles.cols, b.col + b.cols); ++j)
        owners[tiles.of_a(i, j).index()] = size_t(device - devices.begin());
  }
  return owners;
}

}  // namespace

Plan plan_factorisation(const FactorProblem& given, const Topology& topology,
                        std::span<const MemoryId> devices, const FactorOptions& options) {
  const FactorProblem problem = checked(given);
  const auto& [tile, reflectors, owners] = options;
  check_devices(topology, devices);
  check_places(problem, topology, devices);
  for (const auto& [field, value, least] :
       {std::tuple{"tile", tile, 1}, std::tuple{"reflectors", reflectors, 0}})
    if (value < least)
      throw out_of_range(field, std::to_string(value),
                         "at least " + std::to_string(least));
  if (owners) check_owners(problem, *owners, topology, devices);
  check_kernel_count(
      kernels_of(problem, ceil_div(problem.m, tile), ceil_div(problem.n, tile)), tile,
      tile);
  const FactorTiles tiles{problem, tile, reflectors == 0 ? tile : reflectors,
                          borders_of(problem, owners)};
  check_kernel_count(
      kernels_of(problem, int64_t(tiles.rows.size()), int64_t(tiles.cols.size())), tile,
      tile);
  TaskProgram program{
      is_qr(problem) ? geqrf_tasks(tiles) : potrf_tasks(tiles),
      [&](std::span<const BufferId> tensors) { return tiles.all(tensors); }};
  if (owners)
    program.owners = owners_of(problem, devices, *owners, tiles);
  return plan_by_list(problem, topology, devices, tile, program);
}

}  // namespace tilerail
