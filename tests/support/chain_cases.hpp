#pragma once

#include <cstdint>
#include <vector>

#include "sched/chain/chain_problem.hpp"

namespace tilerail::testing {

/// A checked chain of f64 factors that are not transposed, op(A) being sizes[0] x sizes[1], all in one memory.
inline ChainProblem chain_of(const std::vector<std::int64_t>& sizes, MemoryId place = {}) {
  ChainProblem chain;
  chain.place = place;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    chain.factors.push_back({sizes[i], sizes[i + 1], 0, Trans::no, place});
  return checked(chain);
}

}  // namespace tilerail::testing
