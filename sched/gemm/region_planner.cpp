#include "sched/gemm/region_planner.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "sched/gemm/c_tiles.hpp"
#include "sched/gemm/order.hpp"
#include "sched/tasks/tile_cache.hpp"

namespace tilerail {
namespace {

/// The stored region of op(X)[rows, cols].
View stored(BufferId buffer, Trans trans, Interval rows, Interval cols) {
  return trans == Trans::no ? View{buffer, rows.begin, cols.begin, rows.size(), cols.size()}
                            : View{buffer, cols.begin, rows.begin, cols.size(), rows.size()};
}

/// Tiles of A, used by the GPUs that have tiles of C in their row, then of B, used by those with tiles in their column.
std::vector<TileCache::Tile> input_tiles(const PlanContext& context, const Tiling& tiling) {
  const GemmProblem& p = context.problem;
  std::vector<std::vector<std::size_t>> row_users(tiling.m.size()), col_users(tiling.n.size());
  for (std::size_t d = 0; d < tiling.devices(); ++d) {
    for (const std::int64_t i : tiling.rows_of(d)) row_users[static_cast<std::size_t>(i)].push_back(d);
    for (const std::int64_t j : tiling.cols_of(d)) col_users[static_cast<std::size_t>(j)].push_back(d);
  }
  std::vector<TileCache::Tile> tiles;
  tiles.reserve(InputIndex{tiling}.count());
  for (std::size_t i = 0; i < tiling.m.size(); ++i)
    for (const Interval k : tiling.k)
      tiles.push_back({stored(context.matrix_a, p.trans_a, tiling.m[i], k), p.place_a, row_users[i]});
  for (std::size_t j = 0; j < tiling.n.size(); ++j)
    for (const Interval k : tiling.k)
      tiles.push_back({stored(context.matrix_b, p.trans_b, k, tiling.n[j]), p.place_b, col_users[j]});
  return tiles;
}

std::int64_t largest(const std::vector<Interval>& tiles) {
  std::int64_t size = 0;
  for (const Interval t : tiles) size = std::max(size, t.size());
  return size;
}

/// Everything that one region needs while it is planned.
class RegionPlanner {
 public:
  RegionPlanner(PlanContext& context, const Tiling& tiling, double beta, bool lazy)
      : context_{context},
        tiling_{tiling},
        index_{tiling},
        cache_{context, input_tiles(context, tiling)},
        c_tiles_{context, lazy, beta, {largest(tiling.m), largest(tiling.n)}, cache_},
        devices_(tiling.devices()) {}

  void run() {
    const bool pooled = context_.policy.caching && context_.arenas.front().pooled();
    pooled ? run_blocked() : run_dynamic();
  }

 private:
  struct OpenTile {
    CTileLife::Open tile;
    QueueId stream;
  };
  struct KernelTime {
    std::int64_t rows = -1, cols = -1, depth = -1;
    double seconds = 0;
  };
  struct Device {
    std::map<std::pair<std::int64_t, std::int64_t>, OpenTile> open;  // by (i, j)
    int tiles_started = 0;
    double kernels_end = 0;
    std::vector<KernelTime> kernel_times;
    std::vector<DynamicOrder::Choice> sequence;   // blocked order only
    std::vector<std::vector<std::int64_t>> uses;  // blocked order only: positions by tile, latest first
  };

  void run_dynamic() {
    DynamicOrder order{tiling_, context_.policy.order, cache_};
    for (bool any = true; any;) {
      any = false;
      for (std::size_t d = 0; d < devices_.size(); ++d)
        if (const auto choice = order.next(d)) {
          plan(d, *choice);
          any = true;
        }
    }
  }

  /// Every device follows an order of its own that is fixed beforehand, so that evictions know every future use.
  void run_blocked() {
    std::size_t longest = 0;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      Device& device = devices_[d];
      device.sequence = blocked_order(tiling_, d, context_.arenas[d].slots()).sequence;
      longest = std::max(longest, device.sequence.size());
      device.uses.resize(index_.count());
      for (std::size_t at = device.sequence.size(); at-- > 0;) {
        const SubProblem& sub = device.sequence[at].sub;
        for (const std::size_t tile : {index_.a(sub.i, sub.k), index_.b(sub.k, sub.j)})
          device.uses[tile].push_back(static_cast<std::int64_t>(at));
      }
      for (std::size_t tile = 0; tile < device.uses.size(); ++tile)
        if (!device.uses[tile].empty()) cache_.set_next_use(tile, d, device.uses[tile].back());
    }
    for (std::size_t at = 0; at < longest; ++at)
      for (std::size_t d = 0; d < devices_.size(); ++d) {
        Device& device = devices_[d];
        if (at >= device.sequence.size()) continue;
        const SubProblem& sub = device.sequence[at].sub;
        plan(d, device.sequence[at]);
        for (const std::size_t tile : {index_.a(sub.i, sub.k), index_.b(sub.k, sub.j)}) {
          device.uses[tile].pop_back();
          cache_.set_next_use(tile, d, device.uses[tile].empty() ? TileCache::never : device.uses[tile].back());
        }
      }
  }

  OpenTile& open_tile(std::size_t d, const SubProblem& sub, bool first) {
    Device& device = devices_[d];
    const std::pair key{sub.i, sub.j};
    if (first) {
      const int stream = device.tiles_started++ % context_.policy.compute_streams;
      const View home = stored(context_.matrix_c, Trans::no, tiling_.m[static_cast<std::size_t>(sub.i)],
                               tiling_.n[static_cast<std::size_t>(sub.j)]);
      const QueueId queue = context_.builder.compute_queue(context_.devices[d], stream);
      device.open[key] = {c_tiles_.begin(home, d), queue};
    }
    return device.open.at(key);
  }

  void plan(std::size_t d, const DynamicOrder::Choice& choice) {
    const SubProblem& sub = choice.sub;
    Device& device = devices_[d];
    const std::size_t a = index_.a(sub.i, sub.k), b = index_.b(sub.k, sub.j);
    const TileCache::Input in_a = cache_.fetch(a, d);
    cache_.pin(a, d, true);
    const TileCache::Input in_b = cache_.fetch(b, d);
    cache_.pin(b, d, true);
    OpenTile& c = open_tile(d, sub, choice.first);

    Op gemm;
    gemm.kind = OpKind::gemm;
    gemm.queue = c.stream;
    gemm.trans_a = context_.problem.trans_a, gemm.trans_b = context_.problem.trans_b;
    gemm.a = in_a.view, gemm.b = in_b.view, gemm.y = c.tile.work;
    gemm.alpha = context_.problem.alpha;
    gemm.beta = choice.first ? c.tile.beta : 1.0;
    Deps deps;
    deps.after(in_a.arrival).after(in_b.arrival);
    if (choice.first) {
      deps.after(c.tile.loaded);
      if (!c.tile.in_place) deps.after(c.tile.slot.former);
    }
    const OpId kernel = context_.emit(d, gemm, deps);
    cache_.pin(a, d, false);
    cache_.pin(b, d, false);
    cache_.used(a, d, kernel);
    cache_.used(b, d, kernel);

    const double start = std::max({device.kernels_end, in_a.eta, in_b.eta, choice.first ? c.tile.eta : 0.0});
    device.kernels_end = start + kernel_time(d, gemm, tiling_.k[static_cast<std::size_t>(sub.k)].size());
    if (choice.last) {
      c_tiles_.end(c.tile, d, c.stream, kernel, device.kernels_end);
      device.open.erase({sub.i, sub.j});
    }
  }

  /// Few shapes occur on a device, and neighbours mostly have the same.
  double kernel_time(std::size_t d, const Op& gemm, std::int64_t depth) {
    auto& known = devices_[d].kernel_times;
    auto found = std::find_if(known.begin(), known.end(), [&](const KernelTime& t) {
      return t.rows == gemm.y.rows && t.cols == gemm.y.cols && t.depth == depth;
    });
    if (found == known.end()) {
      known.push_back(
          {gemm.y.rows, gemm.y.cols, depth,
           context_.topology.kernels_of(context_.devices[d])
               .gemm_time(gemm.y.rows, gemm.y.cols, depth, context_.problem.dtype, gemm.trans_a, gemm.trans_b)
               .value});
      found = known.end() - 1;
    }
    return found->seconds;
  }

  PlanContext& context_;
  const Tiling& tiling_;
  InputIndex index_;
  TileCache cache_;
  CTileLife c_tiles_;
  std::vector<Device> devices_;
};

}  // namespace

std::vector<std::int64_t> ample_bytes(const Tiling& tiling, const GemmProblem& problem,
                                      std::span<const MemoryId> devices, const Policy& policy, bool lazy) {
  const std::int64_t element = element_size(problem.dtype), padding = 256;
  const auto leading = [=](Interval rows) { return Arena::leading(rows.size(), element); };
  // Bytes of the tiles where these rows meet all of k: stored so, or transposed.
  const auto panel = [&](const std::vector<Interval>& tiles, const std::vector<std::int64_t>& of_device, bool along_k) {
    std::int64_t elements = 0;
    for (const std::int64_t t : of_device)
      for (const Interval k : tiling.k) {
        const Interval tile = tiles[static_cast<std::size_t>(t)];
        elements += along_k ? leading(k) * tile.size() : leading(tile) * k.size();
      }
    return elements * element + static_cast<std::int64_t>(of_device.size() * tiling.k.size()) * padding;
  };
  // A device that passes on what others need may get any tile.
  const bool passes_on = policy.routing == Routing::link_map && policy.max_hops > 0 && devices.size() > 1;
  std::vector<std::int64_t> all_rows(tiling.m.size()), all_cols(tiling.n.size());
  std::iota(all_rows.begin(), all_rows.end(), 0), std::iota(all_cols.begin(), all_cols.end(), 0);
  std::vector<std::int64_t> bytes;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto &rows = passes_on ? all_rows : tiling.rows_of(d), &cols = passes_on ? all_cols : tiling.cols_of(d);
    std::int64_t need = 0;
    if (problem.place_a != devices[d]) need += panel(tiling.m, rows, problem.trans_a == Trans::yes);
    if (problem.place_b != devices[d]) need += panel(tiling.n, cols, problem.trans_b == Trans::no);
    if (problem.place_c != devices[d]) {
      for (const TileOfC tile : tiling.tiles_of(d))
        need += leading(tiling.m[static_cast<std::size_t>(tile.i)]) *
                    tiling.n[static_cast<std::size_t>(tile.j)].size() * element +
                padding;
      if (const auto own = static_cast<std::int64_t>(tiling.tiles_of(d).size()); lazy || passes_on)
        need += std::min<std::int64_t>(passing_buffers(policy), passes_on ? passing_buffers(policy) : own) *
                (Arena::leading(largest(tiling.m), element) * largest(tiling.n) * element + padding);
    }
    bytes.push_back(need);
  }
  return bytes;
}

std::int64_t slot_bytes(const Tiling& tiling, const GemmProblem& problem) {
  const std::int64_t m = largest(tiling.m), n = largest(tiling.n), k = largest(tiling.k), padding = 256;
  const std::int64_t element = element_size(problem.dtype);
  const auto elements = [&](std::int64_t rows, std::int64_t cols) { return Arena::leading(rows, element) * cols; };
  const std::int64_t a = problem.trans_a == Trans::no ? elements(m, k) : elements(k, m);
  const std::int64_t b = problem.trans_b == Trans::no ? elements(k, n) : elements(n, k);
  const std::int64_t bytes = std::max({a, b, elements(m, n), std::int64_t{1}}) * element;
  return (bytes + padding - 1) / padding * padding;
}

void plan_region(PlanContext& context, const Tiling& tiling, double beta, bool lazy) {
  RegionPlanner{context, tiling, beta, lazy}.run();
}

}  // namespace tilerail
