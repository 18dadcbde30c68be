#pragma once

#include <optional>
#include <span>

#include "plan/plan.hpp"

namespace tilerail {

/// What a 2-D copy is made of; zero where it is contiguous (one column always is).
struct CopyColumns {
  std::int64_t bytes = 0;  // of a column
  std::int64_t pitch = 0;  // bytes from one column to the next
  bool operator==(const CopyColumns&) const = default;
};
/// Between a host and a device only the host's side counts; between two of a kind the side with the larger pitch.
CopyColumns copy_columns(const Plan& plan, const Op& op, const Topology& topology);

/// Rate of a copy of these columns between two memories relative to a packed one. `again`: the share of its pages that
/// the device's cache knows; between two devices it does not count.
double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst, CopyColumns columns, double again = 0,
                          StridedEfficiency::Company company = {});

/// Whether copies between GPUs pass through this buffer on a host.
bool is_stage(const Buffer& buffer, const Topology& topology);
/// Whether one end of a copy is such a buffer.
bool is_staged(const Plan& plan, const Op& op, const Topology& topology);

/// Rate of a copy between a host and a device next to one in the other direction, while all of these devices copy with
/// that host in both directions; absent for other copies. It may be above the rate of the pair alone. During a staged
/// copy the other devices do not copy: one thread makes staged copies one after another. docs/model.md#libraries
std::optional<Rate> duplex_rate(const Topology& topology, MemoryId src, MemoryId dst, std::span<const MemoryId> devices,
                                bool staged);

}  // namespace tilerail
