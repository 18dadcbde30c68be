#pragma once

#include <optional>
#include <span>

#include "model/base/units.hpp"

namespace tilerail {

/// Time of a transfer in one direction: latency + bytes * per_byte, `slowdown` times as
/// long while one of the opposite direction runs.
struct TransferTime {
  Seconds latency{0};
  SecondsPerByte per_byte{0};
  double slowdown = 1;

  Seconds of(Bytes bytes) const { return latency + bytes * per_byte; }
};

struct TransferSample {
  Bytes bytes;
  Seconds time;
};

/// Latency and per_byte with the least squares of relative errors. Absent where all
/// samples are of one size, or the line would start below 0 or not rise.
std::optional<TransferTime> fit_transfer_line(std::span<const TransferSample> samples);

}  // namespace tilerail
