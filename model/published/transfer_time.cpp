#include "model/published/transfer_time.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/statistics.hpp"

namespace tilerail {

TransferTime fit_transfer_time(Seconds latency, std::span<const TransferSample> samples) {
  std::vector<double> bytes, times;
  for (const TransferSample& sample : samples)
    bytes.push_back(sample.bytes.value), times.push_back((sample.time - latency).value);
  if (std::ranges::all_of(bytes, [](double b) { return b == 0; }))
    throw fault_of("transfer times", "no sample of more than 0 bytes", "at least one");
  return {latency, SecondsPerByte{std::max(0.0, least_squares_factor(bytes, times))}, 1};
}

/// Each sample asks for (1, bytes / size) / time * (latency, size * per_byte) = 1. With the largest size as unit, both
/// columns are of like magnitude, and their rank tells whether there is more than one size.
std::optional<TransferTime> fit_transfer_line(std::span<const TransferSample> samples) {
  Bytes size;
  for (const TransferSample& sample : samples) size = std::max(size, sample.bytes);
  if (size == Bytes{0}) return std::nullopt;
  constexpr double rounding = 1e-12;  // well below what two sizes in bytes differ by
  const auto count = static_cast<Eigen::Index>(samples.size());
  Eigen::MatrixX2d rows(count, 2);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& [bytes, time] = samples[static_cast<std::size_t>(i)];
    rows.row(i) << 1 / time.value, bytes / size / time.value;
  }
  Eigen::ColPivHouseholderQR<Eigen::MatrixX2d> factors;
  factors.setThreshold(rounding);
  factors.compute(rows);
  if (factors.rank() < 2) return std::nullopt;
  const Eigen::Vector2d line = factors.solve(Eigen::VectorXd::Ones(count));
  if (line[0] < -rounding * line[1] || line[1] <= 0) return std::nullopt;
  return TransferTime{Seconds{std::max(0.0, line[0])}, Seconds{line[1]} / size, 1};
}

double fit_slowdown(std::span<const SlowedSample> samples) {
  std::vector<double> alone, busy;
  for (const SlowedSample& sample : samples) alone.push_back(sample.alone.value), busy.push_back(sample.busy.value);
  constexpr double most = 2;  // more than half of the bandwidth lost is an error of the measurement
  return std::clamp(least_squares_factor(alone, busy), 1.0, most);
}

}  // namespace tilerail
