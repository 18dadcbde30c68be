#pragma once

#include <span>

#include "plan/plan.hpp"

namespace tilerail {

/// What a 2-D copy is made of; zero where both sides are contiguous (one column always is).
struct CopyColumns {
  std::int64_t bytes = 0;  // of a column
  std::int64_t pitch = 0;  // bytes from one column to the next, of the side where it is larger
  bool operator==(const CopyColumns&) const = default;
};
CopyColumns copy_columns(const Plan& plan, const Op& op);

/// Rate of a copy of these columns between two memories relative to a packed one, in a plan that computes on these
/// devices. Each of them counts as busy: a GPU that computes for a quarter of the time slows its copies down as much as
/// one that computes all the time.
double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst, CopyColumns columns,
                          std::span<const MemoryId> computing);

/// Whether copies between GPUs pass through this buffer on a host.
bool is_stage(const Buffer& buffer, const Topology& topology);
/// Whether one end of a copy is such a buffer.
bool is_staged(const Plan& plan, const Op& op, const Topology& topology);

/// Rate of a copy beside one the other way while all of these devices do the same with its host, relative to that of
/// the pair alone; 1 unless exactly one end is a host. The other devices do nothing beside a staged copy: one thread
/// makes these one after another. docs/model.md#libraries
double duplex_efficiency(const Topology& topology, MemoryId src, MemoryId dst, std::span<const MemoryId> devices,
                         bool staged);

}  // namespace tilerail
