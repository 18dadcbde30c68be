#include "model/kernels/tiled_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace tilerail {
namespace {

constexpr int splits[] = {1, 2, 3, 4, 6, 8, 16};
constexpr double least_part = 64;  // of a split k
constexpr double reach = 0.15;     // influence of a measured shape, in octaves
constexpr double farthest = 3;     // maximum distance of influence, in units of `reach`
constexpr double doubt = 0.1;      // weight of the uncorrected rule

/// The squared distance in octaves from a measured shape, plus `more`.
double distance(const TiledGemm::Shape& shape, const TiledGemm::Size& size,
                double more = 0) {
  const double dm = std::log2(shape.m) - std::log2(size.m),
               dn = std::log2(shape.n) - std::log2(size.n);
  const double dk = std::log2(shape.k) - std::log2(size.k);
  return more + dm * dm + dn * dn + dk * dk;
}

/// Fast test without logarithms for shapes without influence: sizes of shapes with
/// influence differ by a factor of at most 2^(farthest reach) = 1.37.
bool too_far(double a, double b) {
  constexpr double ratio = 1.4;
  return a > ratio * b || b > ratio * a;
}

/// Weight of a measured shape: 1 for the same size, decreasing to 0 with the distance.
double weight_of(const TiledGemm::Shape& shape, const TiledGemm::Size& size) {
  if (too_far(shape.m, size.m) || too_far(shape.n, size.n) || too_far(shape.k, size.k))
    return 0;
  const double far = distance(shape, size) / (reach * reach);
  return far > farthest * farthest ? 0 : std::exp(-far);
}

/// Interpolates linearly in the logarithm of the side; constant beyond the ends.
template <class Point, class Value>
double by_side(const std::vector<Point>& points, double side, const Value& value) {
  const auto above = std::ranges::lower_bound(points, side, {}, &Point::side);
  const auto at = [&](auto point) { return std::invoke(value, *point); };
  if (above == points.begin()) return at(above);
  const auto below = above - 1;
  if (above == points.end()) return at(below);
  return std::lerp(at(below), at(above),
                   std::log(side / below->side) / std::log(above->side / below->side));
}

/// Bytes that a product reads and writes: A and B once, C twice.
double traffic(const TiledGemm::Size& size, double element) {
  const auto& [m, n, k] = size;
  return element * (m * k + k * n + 2 * m * n);
}

TiledGemm::Size size_of(const TiledGemm::Shape& shape) {
  return {shape.m, shape.n, shape.k};
}

}  // namespace

///   time = launch + waves (k / parts + fill) 2 rows cols / (efficiency peak /
///   multiprocessors) + adding the parts
/// for the fastest block and number of parts: assumes a good choice by the library.
TiledGemm::Cost TiledGemm::uncorrected(const Size& size, const Device& device) const {
  const auto& [m, n, k] = size;
  const auto& [multiprocessors, element, memory] = device;
  Cost best{Seconds{std::numeric_limits<double>::infinity()}, 1};
  for (const Block& block : blocks)
    for (const auto& [rows, cols] :
         {std::pair{block.rows, block.cols}, std::pair{block.cols, block.rows}}) {
      const double count = std::ceil(m / rows) * std::ceil(n / cols);
      const double step = 2 * rows * cols * multiprocessors /
                          (block.efficiency * peak.value);  // seconds per unit of k
      for (const int parts : splits) {
        if (parts > 1 && k / parts < least_part) break;
        const double waves = std::ceil(count * parts / multiprocessors);
        double time = launch.value + waves * (k / parts + fill) * step;
        if (parts > 1)
          time += reduction.value + 2 * m * n * parts * element / memory.value;
        const double work = count * parts / multiprocessors * (k / parts + fill) * step;
        if (time < best.time.value) best = {Seconds{time}, work / time};
      }
      if (block.rows == block.cols) break;
    }
  best.occupancy = std::min(1.0, best.occupancy);
  best.time = std::max(best.time, launch + Bytes{traffic(size, element)} / memory);
  return best;
}

/// The uncorrected time multiplied by exp(weighted mean of log(measured / uncorrected))
/// of the measured shapes; weights decrease with the distance in octaves. The correction
/// never exceeds the device's largest rates.
TiledGemm::Cost TiledGemm::cost(const Size& size, const Device& device) const {
  const auto& [m, n, k] = size;
  Cost result = uncorrected(size, device);
  double sum = 0, weights = doubt;
  for (const Shape& shape : shapes) {
    const double weight = weight_of(shape, size);
    if (weight == 0) continue;
    sum += weight * std::log(shape.time / uncorrected(size_of(shape), device).time);
    weights += weight;
  }
  result.time = std::max({result.time * std::exp(sum / weights),
                          Seconds{2 * m * n * k / fastest().value},
                          Bytes{traffic(size, device.element)} /
                              fastest_memory(device.element, device.memory)});
  if (!fills.empty()) result.occupancy = by_side(fills, std::sqrt(m * n), &Fill::share);
  return result;
}

TiledGemm::Cost TiledGemm::cost_in_graph(const Size& size, const Device& device) const {
  Cost result = cost(size, device);
  if (in_graph.empty()) return result;
  const double side = std::sqrt(size.m * size.n);
  const double gain =
      by_side(in_graph, side, [](const InGraph& g) { return g.gain.value; });
  result.time = std::max(result.time - Seconds{gain},
                         result.time / 2);  // gain of at most half the time
  result.occupancy = by_side(in_graph, side, &InGraph::share);
  return result;
}

/// Libraries change kernels from one shape to the next, so the nearest shapes dominate:
/// weights decrease with the fourth power of the distance in octaves.
std::optional<Seconds> TiledGemm::issue(const Size& size) const {
  constexpr double near = 0.1;  // squared distance within which shapes count equally,
                                // because single times scatter
  double sum = 0, weights = 0;
  for (const Shape& shape : shapes) {
    if (!shape.issue) continue;
    const double far = distance(shape, size, near);
    sum += shape.issue->value / (far * far);
    weights += 1 / (far * far);
  }
  return weights == 0 ? std::nullopt : std::optional{Seconds{sum / weights}};
}

double TiledGemm::nearness(const Size& size) const {
  double nearest = 0;
  for (const Shape& shape : shapes) nearest = std::max(nearest, weight_of(shape, size));
  return nearest;
}

FlopRate TiledGemm::fastest() const {
  double most = 0;
  for (const Block& block : blocks) most = std::max(most, block.efficiency * peak.value);
  for (const Shape& shape : shapes)
    most = std::max(most, 2 * shape.m * shape.n * shape.k / shape.time.value);
  return FlopRate{most};
}

Rate TiledGemm::fastest_memory(double element, Rate memory) const {
  for (const Shape& shape : shapes)
    memory = std::max(memory, Bytes{traffic(size_of(shape), element)} / shape.time);
  return memory;
}

double TiledGemm::fastest_correction(const Device& device) const {
  double most = 1;
  for (const Shape& shape : shapes)
    most = std::max(most, uncorrected(size_of(shape), device).time / shape.time);
  return most;
}

}  // namespace tilerail
