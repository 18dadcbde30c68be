#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// Bytes of one memory for a problem's matrices and a plan's tiles.
struct MemoryNeed {
  double matrices = 0, tiles = 0;

  double total() const { return matrices + tiles; }
};

/// By MemoryId, without tiles. A tensor takes its columns, a leading dimension apart; the
/// last column ends with its rows. Replicas lie on these devices; interleaved pages count
/// in the memories that hold them.
std::vector<MemoryNeed> memory_needs(std::span<const Tensor> tensors,
                                     std::span<const MemoryId> devices,
                                     const Topology& topology);
/// The same for a plan, including its stated tiles.
std::vector<MemoryNeed> memory_needs(const Plan& plan, const Topology& topology);

/// Throws InputError with this subject for the first memory with too little capacity. A
/// memory without a stated capacity is unlimited.
void check_capacities(std::span<const MemoryNeed> needs, const Topology& topology,
                      std::string_view subject);

}  // namespace tilerail
