#include "model/kernels/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"
#include "model/base/topology_limits.hpp"

namespace tilerail {
namespace {

std::string pair_text(Trans ta, Trans tb) {
  return std::string{to_string(ta)} + std::string{to_string(tb)};
}

/// The curve for this pair of transposes, else the curve for any pair; null without
/// either.
const GemmCurve* find_curve(const KernelTimes& kernels, DType dtype, Trans ta, Trans tb) {
  const std::string trans = pair_text(ta, tb);
  const GemmCurve* any = nullptr;
  for (const GemmCurve& curve : kernels.gemm) {
    if (curve.dtype != dtype || (curve.points.empty() && !curve.tiled)) continue;
    if (curve.trans == trans) return &curve;
    if (curve.trans.empty()) any = &curve;
  }
  return any;
}

/// Partial thread blocks cost as much as whole blocks. However, a result inside one block
/// costs its own size.
double whole_blocks(double size, double block) {
  return size <= block ? size : std::ceil(size / block) * block;
}

/// Rate of s x s x s. Between measured sizes it follows a power law, so that times
/// increase wherever the measured times do. Below the smallest size s0 it is rate(s0)
/// (s / s0)^2: a small result does not fill the device. Above the largest size it is
/// constant.
double square_rate(const std::vector<GemmCurve::Point>& points, double s) {
  const auto above = std::ranges::lower_bound(points, s, {}, &GemmCurve::Point::size);
  if (above == points.end()) return points.back().rate.value;
  if (above->size == s) return above->rate.value;
  if (above == points.begin())
    return above->rate.value * (s / above->size) * (s / above->size);
  const auto below = above - 1;
  const double share = std::log(s / below->size) / std::log(above->size / below->size);
  return below->rate.value * std::pow(above->rate.value / below->rate.value, share);
}

/// Seconds per unit of (k + k0) for an s x s result and the rate E(s) of squares:
///   P(s) = 2 s^3 / (E(s) (s + k0)),
/// reduced to the minimum of P over larger sizes, so that P is monotone.
/// On a power law, log P is concave in log s. The minimum on a segment is at an end, so
/// measured sizes suffice.
double panel_time(const GemmCurve& curve, double s, double k0) {
  const auto at = [k0](double size, double rate) {
    return 2 * size * size * size / (rate * (size + k0));
  };
  double least = at(s, square_rate(curve.points, s));
  for (const GemmCurve::Point& p : curve.points)
    if (p.size > s) least = std::min(least, at(p.size, p.rate.value));
  return least;
}

TiledGemm::Size size_of(int64_t m, int64_t n, int64_t k) {
  return {double(m), double(n), double(k)};
}

bool is_vector(int64_t m, int64_t n) { return m == 1 || n == 1; }

/// Lower bound in seconds, from the largest rate of the curve and the memory bandwidth. A
/// and B are read once, C is read and written. Partial thread blocks count as whole
/// blocks; not for products with a vector or for tiled GEMMs.
double gemm_at_peak(const KernelTimes& kernels, const GemmCurve& curve, int64_t m,
                    int64_t n, int64_t k, DType dtype) {
  const double dm = double(m), dn = double(n), dk = double(k);
  const bool by_blocks = !curve.tiled && !(is_vector(m, n) && kernels.memory_bandwidth);
  const double area =
      by_blocks ? whole_blocks(dm, kernels.block_m) * whole_blocks(dn, kernels.block_n)
                : dm * dn;
  const double multiplying = 2 * area * dk / curve.fastest().value;
  if (!kernels.memory_bandwidth) return multiplying;
  const double bytes = double(element_size(dtype)) * (dm * dk + dk * dn + 2 * dm * dn);
  return std::max(multiplying, bytes / kernels.memory_bandwidth->value);
}

/// Seconds of an axpby at the memory bandwidth; 0 if the bandwidth is unknown.
double axpby_at_peak(const KernelTimes& kernels, int64_t m, int64_t n, DType dtype,
                     int operands) {
  if (!kernels.memory_bandwidth) return 0;
  const double elements = double(m) * double(n) * operands;
  return elements * double(element_size(dtype)) / kernels.memory_bandwidth->value;
}

}  // namespace

FlopRate GemmCurve::fastest() const {
  if (tiled) return tiled->fastest();
  FlopRate best{0};
  for (const Point& p : points) best = std::max(best, p.rate);
  return best;
}

std::optional<Seconds> GemmCurve::tile_time(size_t kernel, double size) const {
  std::vector<Point> rates;
  for (const TileTime& t : tiles[kernel])
    rates.push_back({t.size, Flops{2 * t.size * t.size * t.size} / t.time});
  if (rates.empty()) return std::nullopt;
  return Seconds{2 * size * size * size / square_rate(rates, size)};
}

double GemmCurve::load_factor(double duty) const {
  if (sustained.empty()) return 1;
  const auto above =
      std::ranges::lower_bound(sustained, duty, {}, &GemmCurve::Load::duty);
  if (above == sustained.begin()) return sustained.front().factor;
  if (above == sustained.end()) return sustained.back().factor;
  const auto below = above - 1;
  return below->factor + (duty - below->duty) / (above->duty - below->duty) *
                             (above->factor - below->factor);
}

GemmCurve::Phases GemmCurve::phases(Seconds begin, Seconds time) const {
  const auto until = [&](Seconds date) {
    return std::clamp((date - begin) / time, 0.0, 1.0);
  };
  const double rested = until(sustained_after),
               felt = until(std::max(sustained_after, sustained_fully_after));
  return {rested, felt - rested, 1 - felt};
}

/// Factor 1 for the share r of the call, F1(d) for f, F(d) for the rest; on average
///   1 / (r + f / F1(d) + (1 - r - f) / F(d))
double GemmCurve::load_factor(double duty, Seconds time, double calls_before) const {
  const double factor = load_factor(duty);
  if (factor == 1 || time <= Seconds{0}) return factor;
  const Phases share = phases(calls_before * time, time);
  return 1 /
         (share.rested + share.first / load_factor_at_first(duty) + share.full / factor);
}

const GemmCurve& KernelTimes::curve(DType dtype, Trans ta, Trans tb) const {
  if (const GemmCurve* curve = find_curve(*this, dtype, ta, tb)) return *curve;
  throw InputError{
      "kernels", name,
      fmt::format("have no GEMM times for {} {}", to_string(dtype), pair_text(ta, tb)),
      fmt::format("a [[kernels.{}.gemm]] table for it", name)};
}

TiledGemm::Device KernelTimes::tiled_device(DType dtype) const {
  return {multiprocessors, double(element_size(dtype)), *memory_bandwidth};
}

double KernelTimes::share_at_peak() const {
  constexpr auto largest = int64_t(TopologyLimits::gemm_size.most);
  return occupancy(largest, largest);
}

FlopRate KernelTimes::peak_of_vectors(DType dtype, Trans ta, Trans tb) const {
  FlopRate rate = curve(dtype, ta, tb).fastest();
  const auto element = double(element_size(dtype));
  if (memory_bandwidth)
    rate = std::min(rate,
                    // one multiply-add per element read
                    FlopRate{2 / element * memory_bandwidth->value});
  return rate / share_at_peak();
}

FlopRate KernelTimes::peak(DType dtype, Trans ta, Trans tb) const {
  const GemmCurve& times = curve(dtype, ta, tb);
  if (!times.tiled) return times.fastest() / share_at_peak();
  return std::max(times.fastest() / share_at_peak(), peak_of_vectors(dtype, ta, tb));
}

std::optional<Rate> KernelTimes::peak_memory_rate(DType dtype, Trans ta, Trans tb) const {
  if (!memory_bandwidth) return std::nullopt;
  const GemmCurve& times = curve(dtype, ta, tb);
  const auto element = double(element_size(dtype));
  const Rate most = times.tiled ? times.tiled->fastest_memory(element, *memory_bandwidth)
                                : *memory_bandwidth;
  return Rate{most.value / share_at_peak()};
}

Seconds KernelTimes::gemm_time(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                               Trans tb) const {
  if (m == 0 || n == 0) return Seconds{0};
  if (k == 0) return axpby_time(m, n, dtype, 1, 1);
  const GemmCurve& times = curve(dtype, ta, tb);
  const double at_peak = gemm_at_peak(*this, times, m, n, k, dtype);
  if (is_vector(m, n) && memory_bandwidth) return std::max(launch, Seconds{at_peak});
  if (times.tiled) return times.tiled->cost(size_of(m, n, k), tiled_device(dtype)).time;
  const double dm = double(m), dn = double(n), dk = double(k);
  const double side = std::sqrt(whole_blocks(dm, block_m) * whole_blocks(dn, block_n));
  const double cube = std::min({dm, dn, dk});
  return Seconds{std::max(
      {launch.value, at_peak, panel_time(times, side, k_overhead) * (dk + k_overhead),
       2 * cube * cube * cube / square_rate(times.points, cube)})};  // cube inside
}

Seconds KernelTimes::axpby_time(int64_t m, int64_t n, DType dtype, int reads,
                                int writes) const {
  if (m == 0 || n == 0) return Seconds{0};
  return std::max(launch, Seconds{axpby_at_peak(*this, m, n, dtype, reads + writes)});
}

double KernelTimes::occupancy(int64_t m, int64_t n) const {
  const double blocks = std::ceil(double(m) / block_m) * std::ceil(double(n) / block_n);
  return std::min(1.0, std::max(1.0, blocks) / multiprocessors);
}

double KernelTimes::gemm_occupancy(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                                   Trans tb) const {
  if (m == 0 || n == 0) return 0;
  if (k == 0) return axpby_occupancy(m, n, dtype, 1, 1);
  const GemmCurve& times = curve(dtype, ta, tb);
  double of_blocks = occupancy(m, n);
  if (is_vector(m, n) && memory_bandwidth) {
    const double read = double(std::max(m, n)) * double(k);
    of_blocks = std::min(1.0, std::ceil(read / (block_m * block_n)) / multiprocessors);
  } else if (times.tiled) {
    of_blocks = times.tiled->cost(size_of(m, n, k), tiled_device(dtype)).occupancy;
  }
  const double of_peak = gemm_at_peak(*this, times, m, n, k, dtype) /
                         gemm_time(m, n, k, dtype, ta, tb).value;
  return std::min(1.0, std::max(of_blocks, of_peak * share_at_peak()));
}

TiledGemm::Cost KernelTimes::gemm_in_graph(int64_t m, int64_t n, int64_t k, DType dtype,
                                           Trans ta, Trans tb) const {
  const GemmCurve& times = curve(dtype, ta, tb);
  if (!times.tiled || times.tiled->in_graph.empty() || is_vector(m, n) || m == 0 ||
      n == 0 || k == 0)
    return {gemm_time(m, n, k, dtype, ta, tb), gemm_occupancy(m, n, k, dtype, ta, tb)};
  TiledGemm::Cost cost =
      times.tiled->cost_in_graph(size_of(m, n, k), tiled_device(dtype));
  // Measured shapes may be faster than the memory bandwidth allows.
  const Seconds at_peak = std::min(Seconds{gemm_at_peak(*this, times, m, n, k, dtype)},
                                   gemm_time(m, n, k, dtype, ta, tb));
  cost.time = std::max(cost.time, at_peak);
  cost.occupancy =
      std::min(1.0, std::max(cost.occupancy, at_peak / cost.time * share_at_peak()));
  return cost;
}

double KernelTimes::axpby_occupancy(int64_t m, int64_t n, DType dtype, int reads,
                                    int writes) const {
  const double time = axpby_time(m, n, dtype, reads, writes).value;
  if (time == 0) return occupancy(m, n);
  const double of_peak = axpby_at_peak(*this, m, n, dtype, reads + writes) / time;
  return std::max(occupancy(m, n), of_peak * share_at_peak());
}

double KernelTimes::alignment_factor(DType dtype, Trans ta, Trans tb,
                                     double bytes) const {
  const auto& steps = curve(dtype, ta, tb).alignment;
  const auto step =
      std::ranges::find_if(steps, [=](auto& s) { return bytes <= s.bytes; });
  return step == steps.end() ? 1 : step->factor;
}

bool KernelTimes::has_times(DType dtype, Trans ta, Trans tb) const {
  return find_curve(*this, dtype, ta, tb) != nullptr;
}

std::optional<Watts> KernelTimes::gemm_watts(DType dtype, Trans ta, Trans tb) const {
  const GemmCurve* curve = find_curve(*this, dtype, ta, tb);
  return curve ? curve->watts : std::nullopt;
}

std::optional<Seconds> KernelTimes::gemm_issue(int64_t m, int64_t n, int64_t k,
                                               DType dtype, Trans ta, Trans tb) const {
  const GemmCurve* curve = find_curve(*this, dtype, ta, tb);
  if (!curve || !curve->tiled || m <= 1 || n <= 1 || k < 1) return std::nullopt;
  return curve->tiled->issue(size_of(m, n, k));
}

}  // namespace tilerail
