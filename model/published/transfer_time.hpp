#pragma once

#include <optional>
#include <span>

#include "model/base/units.hpp"

namespace tilerail {

/// Time of a transfer in one direction: latency + bytes * per_byte, `slowdown` times as long while one of the opposite
/// direction runs.
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

/// Least squares for per_byte through the origin, the latency taken off each time before. Source: Anastasiadis et al.,
/// CoCoPeLia, ISPASS 2021, section IV-A. Throws InputError when there is no sample of more than 0 bytes.
TransferTime fit_transfer_time(Seconds latency, std::span<const TransferSample> samples);

/// Latency and per_byte with the least squares of relative errors. Absent where all samples are of one size, or the
/// line would start below 0 or not rise.
std::optional<TransferTime> fit_transfer_line(std::span<const TransferSample> samples);

/// A transfer alone and while one of the opposite direction runs.
struct SlowedSample {
  Seconds alone, busy;
};
/// Least squares of busy = slowdown * alone, from 1 to 2. Source: thesis 3.2.4, which measures one large transfer.
double fit_slowdown(std::span<const SlowedSample> samples);

}  // namespace tilerail
