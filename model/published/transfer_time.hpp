#pragma once

#include <optional>
#include <span>

#include "model/base/units.hpp"

namespace tilerail {

/// Time of a transfer in one direction: latency + bytes * per_byte, and `slowdown` times
/// longer during an opposite transfer.
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

/// Latency and per_byte from least squares of relative errors. Absent if all samples have
/// one size, or if the line starts below 0 or does not rise.
std::optional<TransferTime> fit_transfer_line(std::span<const TransferSample> samples);

}  // namespace tilerail
