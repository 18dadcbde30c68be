#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

struct JudgedPlan {
  Plan plan;
  double seconds;    // by the judge; infinite if no plan was judged
  std::string what;  // the plan's tile, grid, GPUs and strategy
};

/// The search for the fastest plan on all devices of a question. It judges a sequence of
/// plans that depends on the question alone, so that a longer search judges the plans of
/// a shorter one and more. docs/model.md#judge
class SetSearch {
 public:
  virtual ~SetSearch() = default;

  /// Continues until the search has spent `ops` operations (docs/model.md#judge) or no
  /// plan is left to try.
  virtual void judge_until(int64_t ops) = 0;
  /// The time of the fastest plan so far; infinite if no plan was simulated.
  virtual double seconds() const = 0;
  /// The fastest plan, or `start` if no plan was simulated. The plan's origin lists all
  /// simulated plans. Ends the search.
  virtual JudgedPlan take() = 0;
};

/// All arguments must outlive the search.
std::unique_ptr<SetSearch> set_search(const Question& question, const Judge& judge,
                                      const Plan& start);

}  // namespace tilerail
