#include "model/published/overlap_models.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

struct TileTimes {
  Seconds in{0}, out{0};  // of all tiles that a sub-kernel reads or writes
};

TileTimes tile_times(const OverlapProblem& p, double tile) {
  TileTimes times;
  for (const OverlapOperand& o : p.operands) {
    const Bytes bytes = o.tile_elements(tile) * p.element;
    if (o.get) times.in += o.in.of(bytes);
    if (o.set) times.out += o.out.of(bytes);
  }
  return times;
}

/// Time of transfers in both directions: simultaneous until the shorter one ends, then
/// the rest of the longer one alone.
Seconds overlapped(const TileTimes& times, double slowdown_in, double slowdown_out) {
  const Seconds in = slowdown_in * times.in, out = slowdown_out * times.out;
  return in >= out ? out + (in - out) / slowdown_in : in + (out - in) / slowdown_out;
}

/// Sub-kernels overlap with the transfers of other sub-kernels, except for the first and
/// the last transfers.
Seconds pipelined(const OverlapProblem& p, double tile, const TileTimes& times,
                  Seconds transfers) {
  const Seconds kernel = p.kernel(tile);
  return std::max(kernel, transfers) * (p.sub_kernels(tile) - 1) + times.in + kernel +
         times.out;
}

/// Every sub-kernel copies all its operands in and out.
Seconds baseline(const OverlapProblem& p, double tile) {
  TileTimes times;
  for (const OverlapOperand& o : p.operands) {
    const Bytes bytes = o.tile_elements(tile) * p.element;
    times.in += p.h2d.of(bytes), times.out += p.d2h.of(bytes);
  }
  return pipelined(p, tile, times, std::max(times.in, times.out));
}

Seconds dataloc(const OverlapProblem& p, double tile) {
  const TileTimes times = tile_times(p, tile);
  return pipelined(p, tile, times, std::max(times.in, times.out));
}

Seconds bts(const OverlapProblem& p, double tile) {
  const TileTimes times = tile_times(p, tile);
  return pipelined(p, tile, times, overlapped(times, p.h2d.slowdown, p.d2h.slowdown));
}

/// Every tile is fetched once; each fetch except the first of its operand overlaps with
/// one sub-kernel.
Seconds dr(const OverlapProblem& p, double tile) {
  const Seconds kernel = p.kernel(tile);
  const auto [in, out] = tile_times(p, tile);
  Seconds fetching{0};
  double with_fetch = 0;
  for (const OverlapOperand& o : p.operands) {
    if (!o.get) continue;
    const double fetches = o.tiles(tile) - 1;
    with_fetch += fetches;
    fetching += fetches * std::max(o.in.of(o.tile_elements(tile) * p.element), kernel);
  }
  return fetching + kernel * (p.sub_kernels(tile) - with_fetch) + in + out;
}

/// Each bit mask selects the dimensions in which a sub-kernel's index is above 0. Such
/// sub-kernels are the first to need the tiles of the operands that have all of these
/// dimensions: with A along m and k, and C along m and n, sub-kernels with i > 0, j = k =
/// 0 need new tiles of A and C, and sub-kernels with i, j > 0, k = 0 a new tile of C.
/// Their fetches overlap one kernel.
Seconds dr2(const OverlapProblem& p, double tile) {
  const Seconds kernel = p.kernel(tile);
  const auto [in, out] = tile_times(p, tile);
  Seconds total = in + kernel + out;
  for (unsigned beyond = 1; beyond < 1U << p.dims.size(); ++beyond) {
    double count = 1;
    for (const auto d : indices(p.dims))
      if (beyond >> d & 1U) count *= std::max(1.0, p.dims[d] / tile) - 1;
    Seconds fetches{0};
    for (const OverlapOperand& o : p.operands)
      if (o.get && (beyond & ~o.along) == 0)
        fetches += o.in.of(o.tile_elements(tile) * p.element);
    total += count * std::max(kernel, fetches);
  }
  return total;
}

/// The longest of three (transfers in, kernel, transfers out) for the whole routine, plus
/// the parts of the other two in the first and the last stream, which do not overlap.
Seconds cso(const OverlapProblem& p, double tile) {
  Seconds in{0}, out{0};
  for (const OverlapOperand& o : p.operands) {
    const Bytes bytes = o.rows * (o.cols > 0 ? o.cols : 1) * p.element;
    if (o.get) in += o.in.of(bytes);
    if (o.set) out += o.out.of(bytes);
  }
  const Seconds longest = std::max({p.whole_kernel, in, out});
  return longest + (p.whole_kernel + in + out - longest) / p.sub_kernels(tile);
}

struct Model {
  std::string_view name;
  Seconds (*time)(const OverlapProblem& problem, double tile);
};
constexpr std::array<Model, overlap_models.size()> models{{{"baseline", baseline},
                                                           {"dataloc", dataloc},
                                                           {"bts", bts},
                                                           {"dr", dr},
                                                           {"dr2", dr2},
                                                           {"cso", cso}}};

}  // namespace

double OverlapOperand::tiles(double tile) const {
  return std::max(1.0, rows / tile) * (cols > 0 ? std::max(1.0, cols / tile) : 1);
}

double OverlapOperand::tile_elements(double tile) const {
  return std::min(rows, tile) * (cols > 0 ? std::min(cols, tile) : 1);
}

double OverlapProblem::sub_kernels(double tile) const {
  double k = 1;
  for (const double d : dims) k *= std::max(1.0, d / tile);
  return k;
}

std::string_view to_string(OverlapModel model) { return models[size_t(model)].name; }

Seconds predicted_time(OverlapModel model, const OverlapProblem& problem, double tile) {
  return models[size_t(model)].time(problem, tile);
}

int64_t best_tile(OverlapModel model, const OverlapProblem& problem,
                  std::span<const int64_t> tiles) {
  int64_t best = tiles.front();
  Seconds least = predicted_time(model, problem, double(best));
  for (const int64_t tile : tiles) {
    const Seconds time = predicted_time(model, problem, double(tile));
    if (time < least || (time == least && tile > best)) best = tile, least = time;
  }
  return best;
}

}  // namespace tilerail
