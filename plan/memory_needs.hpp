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

/// By MemoryId. A matrix takes its columns, a leading dimension apart; the last column
/// ends with its rows. `problem` must come from `checked` and be placed in the first
/// `memories` ids.
std::vector<MemoryNeed> memory_needs(const GemmProblem& problem, size_t memories);
/// Adds the needs of spread memories to the memories of their parts, or, for replicated
/// matrices, to these devices.
std::vector<MemoryNeed> needs_of_parts(std::vector<MemoryNeed> needs,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices);
/// The same for a plan, including its stated tiles.
std::vector<MemoryNeed> memory_needs(const Plan& plan);

/// Throws InputError with this subject for the first memory with too little capacity,
/// including replicas on these devices. A memory without a stated capacity is unlimited.
void check_capacities(std::span<const MemoryNeed> needs, const Topology& topology,
                      std::span<const MemoryId> devices, std::string_view subject);

}  // namespace tilerail
