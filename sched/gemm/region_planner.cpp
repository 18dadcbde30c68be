#include "sched/gemm/region_planner.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "model/base/indices.hpp"
#include "sched/gemm/owned_tiles.hpp"
#include "sched/gemm/owners.hpp"
#include "sched/gemm/owners_by_arrival.hpp"
#include "sched/gemm/owners_in_steps.hpp"
#include "sched/place/loop.hpp"
#include "sched/policy/emulation.hpp"

namespace tilerail {

namespace {

/// Bytes of tiles of one type on one device.
class TileBytes {
 public:
  TileBytes(const Tiling& tiling, DType dtype)
      : tiling_{tiling}, element_{element_size(dtype)} {}

  /// Tiles of an input: each chosen interval of `sides` (m or n) times each interval of
  /// k. The columns of the matrix run along `sides`, or along k.
  int64_t panel(const std::vector<IndexRange>& sides, const std::vector<int64_t>& chosen,
                std::span<const IndexRange> ks, bool along_k) const {
    int64_t bytes = 0;
    for (const int64_t index : chosen)
      for (const IndexRange k : ks) {
        const IndexRange side = sides[size_t(index)];
        bytes += along_k ? tile(k.size(), side.size()) : tile(side.size(), k.size());
      }
    return bytes;
  }

  int64_t of_c(std::span<const TileOfC> tiles) const {
    int64_t bytes = 0;
    for (const TileOfC c : tiles)
      bytes += tile(tiling_.m[size_t(c.i)].size(), tiling_.n[size_t(c.j)].size());
    return bytes;
  }

  int64_t largest_of_c() const { return tile(longest(tiling_.m), longest(tiling_.n)); }

 private:
  int64_t tile(int64_t rows, int64_t cols) const {
    return Arena::leading(rows, element_) * cols * element_ + Arena::alignment;
  }

  const Tiling& tiling_;
  int64_t element_;
};

std::vector<int64_t> all_of(const std::vector<IndexRange>& tiles) {
  std::vector<int64_t> indices(tiles.size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// Whether several kernels add to sums in another type than C.
bool is_rounded(const GemmProblem& problem, const Tiling& tiling) {
  return problem.rounds() && tiling.k.size() > 1;
}

/// Whether devices receive tiles that they do not use.
bool passes_on(const Decisions& decisions, size_t devices, bool passing_on) {
  const bool relays = decisions.choices.routing == Routing::link_map &&
                      decisions.choices.max_hops > 0 && devices > 1;
  return relays || passing_on || emulation_of(decisions.choices).has_one_queue();
}

/// Tiles of C that a device holds for one operation each.
int64_t passing_tiles(const Tiling& tiling, const Decisions& decisions, bool passes,
                      size_t device) {
  const int64_t most = passing_buffers(decisions);
  if (passes || tiling.layers() > 1) return most;
  return decisions.choices.c_tiles == CTiles::lazy
             ? std::min(most, int64_t(tiling.tiles_of(device).size()))
             : 0;
}

}  // namespace

std::vector<int64_t> ample_bytes(const Tiling& tiling, const GemmProblem& problem,
                                 std::span<const MemoryId> devices,
                                 const Decisions& decisions, bool passing_on) {
  const TileBytes tile_bytes{tiling, problem.dtype},
      sum_bytes{tiling, sum_type(problem.dtype)};
  const bool rounded = is_rounded(problem, tiling);
  const bool passes = passes_on(decisions, devices.size(), passing_on);
  const bool adds_up = tiling.layers() > 1;
  const auto uses_in_place = [&](const Layout& place, size_t d) {
    return place.is_replicated() ||
           (decisions.choices.in_place && place.is_whole_in(devices[d]));
  };
  const auto inputs = [&](size_t d) {
    const IndexRange depth =
        passes ? IndexRange{0, int64_t(tiling.k.size())} : tiling.depth_of(d);
    const auto ks =
        std::span{tiling.k}.subspan(size_t(depth.begin), size_t(depth.size()));
    const auto rows = passes ? all_of(tiling.m) : tiling.rows_of(d),
               cols = passes ? all_of(tiling.n) : tiling.cols_of(d);
    int64_t bytes = 0;
    if (!uses_in_place(problem.place_a, d))
      bytes += tile_bytes.panel(tiling.m, rows, ks, problem.trans_a == Trans::yes);
    if (!uses_in_place(problem.place_b, d))
      bytes += tile_bytes.panel(tiling.n, cols, ks, problem.trans_b == Trans::no);
    return bytes;
  };
  const auto outputs = [&](size_t d) {
    const bool in_place = uses_in_place(problem.place_c, d);
    if (in_place && !adds_up && !rounded) return int64_t{0};
    int64_t bytes =
        passing_tiles(tiling, decisions, passes, d) * sum_bytes.largest_of_c();
    if (rounded) bytes += sum_bytes.of_c(tiling.tiles_of(d));
    if (!rounded || !in_place) bytes += tile_bytes.of_c(tiling.tiles_of(d));
    return bytes;
  };
  std::vector<int64_t> bytes;
  for (const auto d : indices(devices)) bytes.push_back(inputs(d) + outputs(d));
  return bytes;
}

int64_t slot_bytes(int64_t m, int64_t n, int64_t k, const GemmProblem& problem) {
  const auto bytes = [&](int64_t rows, int64_t cols) {
    return Arena::bytes(rows, cols, problem.dtype);
  };
  const int64_t a = problem.trans_a == Trans::no ? bytes(m, k) : bytes(k, m);
  const int64_t b = problem.trans_b == Trans::no ? bytes(k, n) : bytes(n, k);
  const int64_t c =
      k < problem.k ? Arena::bytes(m, n, sum_type(problem.dtype)) : bytes(m, n);
  return std::max({a, b, c, Arena::alignment});
}

namespace {

/// How many tiles of C may be open simultaneously on a device. If it has slots, two are
/// reserved for a task's A and B or, if these have their own slots, one for a tile that
/// is added to C.
size_t most_open(const PlanContext& context) {
  size_t most = std::numeric_limits<size_t>::max();
  for (const Arena& arena : context.arenas)
    if (arena.pooled()) {
      const int64_t others = context.inputs ? 1 : 2;
      most = std::min(most, size_t(std::max<int64_t>(1, arena.slots() - others)));
    }
  return most;
}

/// The chooser of each GPU's own tasks. If tiles have slots and are not kept, few tiles
/// of C may be open simultaneously.
std::unique_ptr<OwnersOfC> owners(const PlanContext& context, const Tiling& tiling,
                                  const GemmTasks& tasks, Fetcher& fetcher,
                                  OwnedTiles& outputs) {
  const bool ample = !context.arenas.front().pooled();
  Order order = context.decisions.choices.order;
  if (order == Order::eta_all && ample)
    return std::make_unique<OwnersByArrival>(tasks, tiling, fetcher, outputs);
  if (order == Order::steps && ample)
    return std::make_unique<OwnersInSteps>(tasks, tiling, fetcher.directory());
  if (order == Order::eta_all || order == Order::steps) order = Order::eta;
  return std::make_unique<OwnersByClock>(tasks, tiling, order, fetcher);
}

/// Runs the tasks with the chooser and the dispatch order of the policy.
void run_tasks(PlanContext& context, const Tiling& tiling, const GemmTasks& tasks,
               Fetcher& fetcher, OwnedTiles& outputs) {
  const Emulation& emulation = emulation_of(context.decisions.choices);
  const size_t most = most_open(context);
  const auto in_time = [&](Chooser& chooser) {
    TasksAtOnce limits = emulation.limits();
    limits.unfinished = std::min(limits.unfinished, most);
    TaskLoop{context, fetcher, outputs, chooser}.run_in_time(limits);
  };
  if (const auto chooser = emulation.chooser(tasks, tiling, fetcher, most))
    return in_time(*chooser);
  const auto chooser = owners(context, tiling, tasks, fetcher, outputs);
  if (emulation.is_in_model_time()) return in_time(*chooser);
  TaskLoop{context, fetcher, outputs, *chooser}.run();
}

/// All devices use all tiles if owners are not known in advance.
std::vector<TileDirectory::Tile> input_tiles(const PlanContext& context,
                                             const GemmTasks& tasks) {
  std::vector<TileDirectory::Tile> tiles =
      tasks.input_tiles(context.whole(tensor_a), context.whole(tensor_b));
  if (!emulation_of(context.decisions.choices).has_one_queue()) return tiles;
  std::vector<size_t> all(context.devices.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (TileDirectory::Tile& tile : tiles) tile.users = all;
  return tiles;
}

}  // namespace

namespace {

/// Calls `run(tasks, fetcher, outputs)`. Returns the tiles on devices at the end.
template <class Run>
std::vector<TileDirectory::WarmTile> run_product(
    PlanContext& context, const GemmProblem& problem, const Tiling& tiling,
    std::span<const TileDirectory::WarmTile> warm, const Run& run) {
  const GemmTasks tasks{problem, tiling};
  TileDirectory inputs{context, input_tiles(context, tasks)};
  inputs.warm_up(warm);
  Fetcher fetcher{context, inputs};
  OwnedTiles::Options options{
      context.decisions.choices.c_tiles == CTiles::lazy,
      scalar_of(problem.beta, Scalar::beta),
      {longest(tiling.m), longest(tiling.n)},
      is_rounded(problem, tiling),
      [&](TileId tile) { return tasks.home_of_c(tile, context.whole(tensor_c)); }};
  if (tasks.parts() > 1)
    options.total_of = [&](TileId tile) { return tasks.total_of(tile, context.devices); },
    options.parts = tasks.parts();
  OwnedTiles outputs{context, inputs, std::move(options)};
  run(tasks, fetcher, outputs);
  return inputs.warm_tiles();
}

}  // namespace

std::vector<TileDirectory::WarmTile> plan_product(
    PlanContext& context, const GemmProblem& problem, const Tiling& tiling,
    std::span<const TileDirectory::WarmTile> warm) {
  return run_product(context, problem, tiling, warm,
                     [&](const GemmTasks& tasks, Fetcher& fetcher, OwnedTiles& outputs) {
                       run_tasks(context, tiling, tasks, fetcher, outputs);
                     });
}

TaskOrder order_in_parts(PlanContext& context, const GemmProblem& problem,
                         const Tiling& tiling, std::vector<std::vector<Share>> parts) {
  TaskOrder order;
  run_product(context, problem, tiling, {},
              [&](const GemmTasks& tasks, Fetcher& fetcher, OwnedTiles& outputs) {
                const auto chooser = owners(context, tiling, tasks, fetcher, outputs);
                OwnersInParts in_parts{*chooser, tiling, std::move(parts)};
                TaskLoop{context, fetcher, outputs, in_parts}.run();
                order = in_parts.order();
              });
  return order;
}

std::vector<TileDirectory::WarmTile> plan_in_order(PlanContext& context,
                                                   const GemmProblem& problem,
                                                   const Tiling& tiling,
                                                   TaskOrder order) {
  return run_product(
      context, problem, tiling, {},
      [&](const GemmTasks& tasks, Fetcher& fetcher, OwnedTiles& outputs) {
        ListedTasks listed{std::move(order), fetcher.directory(), tasks.inputs()};
        TaskLoop{context, fetcher, outputs, listed}.run();
      });
}

}  // namespace tilerail
