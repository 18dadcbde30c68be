#include "sched/gemm/region_planner.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sched/gemm/blasx_tasks.hpp"
#include "sched/gemm/owned_tiles.hpp"
#include "sched/gemm/owners.hpp"
#include "sched/gemm/owners_by_arrival.hpp"
#include "sched/gemm/owners_in_steps.hpp"
#include "sched/gemm/xkblas_tasks.hpp"
#include "sched/place/loop.hpp"

namespace tilerail {

std::vector<std::int64_t> ample_bytes(const Tiling& tiling, const GemmProblem& problem, const Topology& topology,
                                      std::span<const MemoryId> devices, const Decisions& decisions, bool passing_on) {
  const std::int64_t element = element_size(problem.dtype), padding = Arena::alignment;
  const auto leading = [=](Interval rows) { return Arena::leading(rows.size(), element); };
  // Bytes of the tiles where these rows meet these of k: stored so, or transposed.
  const auto panel = [&](const std::vector<Interval>& tiles, const std::vector<std::int64_t>& of_device,
                         std::span<const Interval> ks, bool along_k) {
    std::int64_t elements = 0;
    for (const std::int64_t t : of_device)
      for (const Interval k : ks) {
        const Interval tile = tiles[static_cast<std::size_t>(t)];
        elements += along_k ? leading(k) * tile.size() : leading(tile) * k.size();
      }
    return elements * element + static_cast<std::int64_t>(of_device.size() * ks.size()) * padding;
  };
  const bool relays = decisions.routing == Routing::link_map && decisions.max_hops > 0 && devices.size() > 1;
  const bool passes_on = relays || passing_on || decisions.agent == Agent::blasx;
  const bool adds_up = tiling.layers() > 1;
  std::vector<std::int64_t> all_rows(tiling.m.size()), all_cols(tiling.n.size());
  std::iota(all_rows.begin(), all_rows.end(), 0), std::iota(all_cols.begin(), all_cols.end(), 0);
  std::vector<std::int64_t> bytes;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto &rows = passes_on ? all_rows : tiling.rows_of(d), &cols = passes_on ? all_cols : tiling.cols_of(d);
    const Interval depth = passes_on ? Interval{0, static_cast<std::int64_t>(tiling.k.size())} : tiling.depth_of(d);
    const auto ks =
        std::span{tiling.k}.subspan(static_cast<std::size_t>(depth.begin), static_cast<std::size_t>(depth.size()));
    const auto uses_in_place = [&](MemoryId home) {
      return topology.has_copies(home) || (decisions.in_place && home == devices[d]);
    };
    std::int64_t need = 0;
    if (!uses_in_place(problem.place_a)) need += panel(tiling.m, rows, ks, problem.trans_a == Trans::yes);
    if (!uses_in_place(problem.place_b)) need += panel(tiling.n, cols, ks, problem.trans_b == Trans::no);
    if (!uses_in_place(problem.place_c) || adds_up) {
      for (const TileOfC tile : tiling.tiles_of(d))
        need += leading(tiling.m[static_cast<std::size_t>(tile.i)]) *
                    tiling.n[static_cast<std::size_t>(tile.j)].size() * element +
                padding;
      if (const auto own = static_cast<std::int64_t>(tiling.tiles_of(d).size()); decisions.lazy || passes_on || adds_up)
        need += std::min<std::int64_t>(passing_buffers(decisions),
                                       passes_on || adds_up ? passing_buffers(decisions) : own) *
                (Arena::leading(longest(tiling.m), element) * longest(tiling.n) * element + padding);
    }
    bytes.push_back(need);
  }
  return bytes;
}

std::int64_t slot_bytes(std::int64_t m, std::int64_t n, std::int64_t k, const GemmProblem& problem) {
  const auto bytes = [&](std::int64_t rows, std::int64_t cols) { return Arena::bytes(rows, cols, problem.dtype); };
  const std::int64_t a = problem.trans_a == Trans::no ? bytes(m, k) : bytes(k, m);
  const std::int64_t b = problem.trans_b == Trans::no ? bytes(k, n) : bytes(n, k);
  return std::max({a, b, bytes(m, n), Arena::alignment});
}

namespace {

/// How many tiles of C a device may have begun at once: with slots for tiles, two stay for a task's A and B, and if
/// these have slots of their own, one for what is added to C.
std::size_t most_open(const PlanContext& context) {
  std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const Arena& arena : context.arenas)
    if (arena.pooled()) {
      const std::int64_t others = context.inputs ? 1 : 2;
      most = std::min(most, static_cast<std::size_t>(std::max<std::int64_t>(1, arena.slots() - others)));
    }
  return most;
}

/// Whose tasks a plan has, and when GPUs ask for them.
void run_tasks(PlanContext& context, const Tiling& tiling, const GemmTasks& tasks, Fetcher& fetcher,
               OwnedTiles& outputs) {
  const std::size_t most = most_open(context);
  const auto in_time = [&](Chooser&& chooser, TasksAtOnce limits) {
    limits.unfinished = std::min(limits.unfinished, most);
    TaskLoop{context, fetcher, outputs, chooser}.run_in_time(limits);
  };
  const Agent agent = context.decisions.agent;
  if (agent == Agent::xkblas) return in_time(XkblasTasks{tasks, tiling}, XkblasTasks::at_once);
  if (agent == Agent::blasx) return in_time(BlasxTasks{tasks, tiling, fetcher, most}, BlasxTasks::at_once);
  const bool evicts = context.decisions.caching && context.arenas.front().pooled();
  const auto owned = [&](Chooser&& owners) {
    constexpr TasksAtOnce one_waiting{.waiting = 1};
    if (agent == Agent::paralia && !evicts) return in_time(std::move(owners), one_waiting);
    TaskLoop{context, fetcher, outputs, owners}.run();
  };
  const bool ample = !context.arenas.front().pooled();  // so that all tiles of C may be open at once
  Order order = context.decisions.order;
  if (order == Order::eta_all && ample) return owned(OwnersByArrival{tasks, tiling, fetcher, outputs});
  if (order == Order::steps && ample) return owned(OwnersInSteps{tasks, tiling, fetcher.directory()});
  if (order == Order::eta_all || order == Order::steps) order = Order::eta;
  if (ample || !context.decisions.caching) return owned(OwnersByClock{tasks, tiling, order, fetcher});
  std::vector<std::int64_t> slots;
  for (const Arena& arena : context.arenas) slots.push_back(arena.slots());
  owned(OwnersInBlocks{tasks, tiling, slots, fetcher.directory()});
}

/// All devices use all tiles where nobody knows beforehand who computes what.
std::vector<TileDirectory::Tile> input_tiles(const PlanContext& context, const GemmTasks& tasks) {
  std::vector<TileDirectory::Tile> tiles = tasks.input_tiles(context.matrix_a, context.matrix_b);
  if (context.decisions.agent != Agent::blasx) return tiles;
  std::vector<std::size_t> all(context.devices.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (TileDirectory::Tile& tile : tiles) tile.users = all;
  return tiles;
}

}  // namespace

std::vector<TileDirectory::WarmTile> plan_region(PlanContext& context, const Tiling& tiling, Scalar beta,
                                                 std::span<const TileDirectory::WarmTile> warm) {
  const GemmTasks tasks{context.problem, tiling};
  TileDirectory inputs{context, input_tiles(context, tasks)};
  inputs.warm_up(warm);
  Fetcher fetcher{context, inputs};
  OwnedTiles::Options options{context.decisions.lazy, beta, {longest(tiling.m), longest(tiling.n)}, [&](TileId tile) {
                                return tasks.home_of_c(tile, context.matrix_c);
                              }};
  if (tasks.parts() > 1)
    options.total_of = [&](TileId tile) { return tasks.total_of(tile, context.devices); },
    options.parts = tasks.parts();
  OwnedTiles outputs{context, inputs, std::move(options)};
  run_tasks(context, tiling, tasks, fetcher, outputs);
  return inputs.warm_tiles();
}

}  // namespace tilerail
