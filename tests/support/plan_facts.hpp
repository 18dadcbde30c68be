#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "plan/plan.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/gemm/tiling.hpp"

namespace tilerail::testing {

/// The candidate that became the plan; empty if nothing was compared.
inline PlanCandidate chosen(const Plan& plan) {
  const PlanOrigin& origin = plan.origin;
  return origin.candidates.empty() ? PlanCandidate{}
                                   : origin.candidates.at(origin.reasons.at(0).chosen);
}

/// The value of a decision of the plan; "" if the plan has no such decision.
inline std::string decided(const Plan& plan, std::string_view key) {
  const auto found = std::ranges::find(plan.origin.decisions, key, &PlanDecision::key);
  return found == plan.origin.decisions.end() ? "" : found->value;
}

inline const Region cube_of_4096{{0, 4096}, {0, 4096}, {0, 4096}};

/// The ends of intervals, each of which begins where the one before it ends.
inline std::vector<int64_t> ends(const std::vector<IndexRange>& intervals,
                                 int64_t begin = 0) {
  std::vector<int64_t> all;
  for (const IndexRange& each : intervals) {
    EXPECT_EQ(each.begin, all.empty() ? begin : all.back());
    all.push_back(each.end);
  }
  return all;
}

/// Region of a view, for comparison.
inline auto covered(const View& view) {
  return std::tuple{view.buffer, view.row, view.col, view.rows, view.cols};
}

/// Whether `op` depends on `other` directly.
inline bool waits_for(const Plan& plan, OpId op, OpId other) {
  const auto deps = plan.deps_of(op);
  return std::find(deps.begin(), deps.end(), other) != deps.end();
}

/// Whether a buffer is a block of the user's tensor, not of an arena.
inline bool is_of(const Buffer& buffer, TensorId tensor) {
  return !buffer.in_arena && buffer.tensor == tensor;
}

}  // namespace tilerail::testing
