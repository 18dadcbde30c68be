#include "model/kernels/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

std::string pair_text(Trans ta, Trans tb) { return std::string{to_string(ta)} + std::string{to_string(tb)}; }

/// The curve for this pair of transposes, else the one for any pair; null without either.
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

const GemmCurve& curve_for(const KernelTimes& kernels, DType dtype, Trans ta, Trans tb) {
  if (const GemmCurve* curve = find_curve(kernels, dtype, ta, tb)) return *curve;
  throw InputError{fmt::format("kernels '{}': no GEMM times for {} {}; expected a [[kernels.{}.gemm]] table for it",
                               kernels.name, to_string(dtype), pair_text(ta, tb), kernels.name)};
}

/// A ragged thread block costs a whole one; a result inside one block costs its own size.
double whole_blocks(double size, double block) { return size <= block ? size : std::ceil(size / block) * block; }

/// Rate of s x s x s. Between measured sizes it follows a power law, so that times ascend wherever the measured ones
/// do. Below the smallest size s0 it is rate(s0) (s / s0)^2, so that a result costs what it costs at s0. Above the
/// largest size it is constant.
double square_rate(const GemmCurve& curve, double s) {
  const auto& points = curve.points;
  const auto above = std::lower_bound(points.begin(), points.end(), s, [](auto& p, double x) { return p.size < x; });
  if (above == points.end()) return points.back().rate.value;
  if (above->size == s) return above->rate.value;
  if (above == points.begin()) return above->rate.value * (s / above->size) * (s / above->size);
  const auto below = above - 1;
  const double share = std::log(s / below->size) / std::log(above->size / below->size);
  return below->rate.value * std::pow(above->rate.value / below->rate.value, share);
}

/// Seconds for each unit of (k + k0) when the result is s x s and E(s) the rate of squares:
///   P(s) = 2 s^3 / (E(s) (s + k0)),   lowered to the least P of any larger size, so that it ascends.
/// On a power law log P is concave in log s. Its least value on a segment is at an end, so measured sizes suffice.
double panel_time(const GemmCurve& curve, double s, double k0) {
  const auto at = [k0](double size, double rate) { return 2 * size * size * size / (rate * (size + k0)); };
  double least = at(s, square_rate(curve, s));
  for (const GemmCurve::Point& p : curve.points)
    if (p.size > s) least = std::min(least, at(p.size, p.rate.value));
  return least;
}

TiledGemm::Cost tiled_cost(const KernelTimes& kernels, const TiledGemm& tiled, std::int64_t m, std::int64_t n,
                           std::int64_t k, DType dtype) {
  return tiled.cost(static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), kernels.multiprocessors,
                    static_cast<double>(element_size(dtype)), *kernels.memory_bandwidth);
}

double fastest(const GemmCurve& curve) {
  if (curve.tiled) return curve.tiled->peak.value;
  double best = 0;
  for (const GemmCurve::Point& p : curve.points) best = std::max(best, p.rate.value);
  return best;
}

bool is_vector(std::int64_t m, std::int64_t n) { return m == 1 || n == 1; }

/// Seconds that the whole device works on a result of one row or column: reading A and B once, reading and writing C,
/// or the multiplications if those take longer.
double vector_work(const KernelTimes& kernels, const GemmCurve& curve, std::int64_t m, std::int64_t n, std::int64_t k,
                   DType dtype) {
  const double dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
  const double bytes = static_cast<double>(element_size(dtype)) * (dm * dk + dk * dn + 2 * dm * dn);
  return std::max(bytes / kernels.memory_bandwidth->value, 2 * dm * dn * dk / fastest(curve));
}

}  // namespace

Seconds KernelTimes::gemm_time(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype, Trans ta, Trans tb) const {
  if (m == 0 || n == 0) return Seconds{0};
  if (k == 0) return axpby_time(m, n, dtype, 1, 1);
  const GemmCurve& curve = curve_for(*this, dtype, ta, tb);
  if (is_vector(m, n) && memory_bandwidth) return std::max(launch, Seconds{vector_work(*this, curve, m, n, k, dtype)});
  if (curve.tiled) return tiled_cost(*this, *curve.tiled, m, n, k, dtype).time;
  const double dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
  const double area = whole_blocks(dm, block_m) * whole_blocks(dn, block_n);
  const double cube = std::min({dm, dn, dk});
  double time = std::max({launch.value,                                                        // fixed cost
                          panel_time(curve, std::sqrt(area), k_overhead) * (dk + k_overhead),  // the rule
                          2 * area * dk / fastest(curve),                       // no faster than measured
                          2 * cube * cube * cube / square_rate(curve, cube)});  // the cube inside it
  if (memory_bandwidth) {
    const double bytes = static_cast<double>(element_size(dtype)) * (dm * dk + dk * dn + 2 * dm * dn);
    time = std::max(time, bytes / memory_bandwidth->value);
  }
  return Seconds{time};
}

Seconds KernelTimes::axpby_time(std::int64_t m, std::int64_t n, DType dtype, int reads, int writes) const {
  if (m == 0 || n == 0) return Seconds{0};
  if (!memory_bandwidth) return launch;
  const double elements = static_cast<double>(m) * static_cast<double>(n) * (reads + writes);
  return std::max(launch, Bytes{elements * static_cast<double>(element_size(dtype))} / *memory_bandwidth);
}

double KernelTimes::occupancy(std::int64_t m, std::int64_t n) const {
  const double blocks = std::ceil(static_cast<double>(m) / block_m) * std::ceil(static_cast<double>(n) / block_n);
  return std::min(1.0, std::max(1.0, blocks) / multiprocessors);
}

double KernelTimes::gemm_occupancy(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype, Trans ta,
                                   Trans tb) const {
  if (m == 0 || n == 0) return 0;
  const GemmCurve& curve = curve_for(*this, dtype, ta, tb);
  if (k > 0 && is_vector(m, n) && memory_bandwidth) {
    const double read = static_cast<double>(std::max(m, n)) * static_cast<double>(k);
    return std::min(1.0, std::ceil(read / (block_m * block_n)) / multiprocessors);
  }
  if (k == 0 || !curve.tiled) return occupancy(m, n);
  return tiled_cost(*this, *curve.tiled, m, n, k, dtype).occupancy;
}

double KernelTimes::alignment_factor(DType dtype, Trans ta, Trans tb, double bytes) const {
  const auto& steps = curve_for(*this, dtype, ta, tb).alignment;
  const auto step = std::find_if(steps.begin(), steps.end(), [=](auto& s) { return bytes <= s.bytes; });
  return step == steps.end() ? 1 : step->factor;
}

bool KernelTimes::knows(DType dtype, Trans ta, Trans tb) const { return find_curve(*this, dtype, ta, tb) != nullptr; }

std::optional<Watts> KernelTimes::gemm_watts(DType dtype, Trans ta, Trans tb) const {
  const GemmCurve* curve = find_curve(*this, dtype, ta, tb);
  return curve ? curve->watts : std::nullopt;
}

double KernelTimes::load_factor(DType dtype, Trans ta, Trans tb, double duty) const {
  const auto& loads = curve_for(*this, dtype, ta, tb).sustained;
  if (loads.empty()) return 1;
  const auto above = std::lower_bound(loads.begin(), loads.end(), duty, [](auto& l, double x) { return l.duty < x; });
  if (above == loads.begin()) return loads.front().factor;
  if (above == loads.end()) return loads.back().factor;
  const auto below = above - 1;
  return below->factor + (duty - below->duty) / (above->duty - below->duty) * (above->factor - below->factor);
}

}  // namespace tilerail
