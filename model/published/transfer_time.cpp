#include "model/published/transfer_time.hpp"

#include <algorithm>

#include "model/base/error.hpp"

namespace tilerail {

TransferTime fit_transfer_time(double latency, std::span<const TransferSample> samples) {
  double products = 0, squares = 0;
  for (const auto& [bytes, seconds] : samples) products += bytes * (seconds - latency), squares += bytes * bytes;
  if (!(squares > 0)) throw InputError{"transfer times: no sample of more than 0 bytes; expected at least one"};
  return {latency, std::max(0.0, products / squares), 1};
}

std::optional<TransferTime> fit_transfer_line(std::span<const TransferSample> samples) {
  double s11 = 0, s12 = 0, s22 = 0, r1 = 0, r2 = 0;
  bool several = false;
  for (const auto& [bytes, seconds] : samples) {
    several = several || bytes != samples.front().bytes;
    const double a = 1 / seconds, b = bytes / seconds;
    s11 += a * a, s12 += a * b, s22 += b * b, r1 += a, r2 += b;
  }
  const double determinant = s11 * s22 - s12 * s12;
  if (!several || determinant <= 0) return std::nullopt;
  const double latency = (r1 * s22 - r2 * s12) / determinant, per_byte = (s11 * r2 - s12 * r1) / determinant;
  if (latency < 0 || per_byte <= 0) return std::nullopt;
  return TransferTime{latency, per_byte, 1};
}

double fit_slowdown(std::span<const SlowedSample> samples) {
  double products = 0, squares = 0;
  for (const auto& [alone, busy] : samples) products += alone * busy, squares += alone * alone;
  constexpr double most = 2;  // more than half of the bandwidth lost is an error of the measurement
  return squares > 0 ? std::clamp(products / squares, 1.0, most) : 1;
}

}  // namespace tilerail
