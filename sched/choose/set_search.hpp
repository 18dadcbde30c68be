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

/// The search for the fastest plan on all devices of a question. It judges a sequence of plans that depends on the
/// question alone, so that a longer search judges the plans of a shorter one and more. docs/model.md#judge
class SetSearch {
 public:
  virtual ~SetSearch() = default;

  /// Goes on until all plans judged have so many operations together, or no plan is left to try.
  virtual void judge_until(std::int64_t ops) = 0;
  /// Of the fastest plan so far; infinite if there is none.
  virtual double seconds() const = 0;
  /// The fastest plan, whose origin lists all that were judged; or `start`. Ends the search.
  virtual JudgedPlan take() = 0;
};

/// All that it refers to must outlive the search.
std::unique_ptr<SetSearch> set_search(const Question& question, const Judge& judge, const Plan& start);

}  // namespace tilerail
