#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// Bytes of one memory that a problem's matrices and a plan's tiles take.
struct MemoryNeed {
  double matrices = 0, tiles = 0;

  double total() const { return matrices + tiles; }
};

/// By MemoryId. A matrix takes its columns, a leading dimension apart; its last one ends
/// with its rows. `problem` as `checked` returns it, placed in the first `memories` ids.
std::vector<MemoryNeed> memory_needs(const GemmProblem& problem, size_t memories);
/// With what lies in several memories as what each of them holds: parts of it, or, on
/// these devices, a copy.
std::vector<MemoryNeed> needs_of_parts(std::vector<MemoryNeed> needs,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices);
/// The same of a plan, with the tiles that it has stated.
std::vector<MemoryNeed> memory_needs(const Plan& plan);

/// Throws InputError of this subject for the first memory that has less than it needs,
/// with copies on these devices. A memory of no stated capacity has enough.
void check_capacities(std::span<const MemoryNeed> needs, const Topology& topology,
                      std::span<const MemoryId> devices, std::string_view subject);

}  // namespace tilerail
