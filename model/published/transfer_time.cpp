#include "model/published/transfer_time.hpp"

#include <Eigen/Dense>
#include <algorithm>

namespace tilerail {

/// Each sample requires (1, bytes / size) / time * (latency, size * per_byte) = 1. With
/// the largest size as unit, both columns have similar magnitudes, and their rank shows
/// whether several sizes exist.
std::optional<TransferTime> fit_transfer_line(std::span<const TransferSample> samples) {
  Bytes size;
  for (const TransferSample& sample : samples) size = std::max(size, sample.bytes);
  if (size == Bytes{0}) return std::nullopt;
  constexpr double rounding = 1e-12;  // below the relative difference of two sizes in
                                      // bytes
  const auto count = static_cast<Eigen::Index>(samples.size());
  Eigen::MatrixX2d rows(count, 2);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& [bytes, time] = samples[size_t(i)];
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

}  // namespace tilerail
