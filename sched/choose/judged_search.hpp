#pragma once

#include <memory>
#include <string>

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

struct JudgedPlan {
  Plan plan;
  double seconds;    // by the judge; infinite if no plan was judged
  std::string what;  // the plan's tile, grid, GPUs and ways
};

/// The search for the fastest plan on all devices of a question: `start`, chosen by the estimate, and others in its
/// neighbourhood of ways and tiles. docs/model.md#judge
class JudgedSearch {
 public:
  virtual ~JudgedSearch() = default;

  /// Judges a few plans.
  virtual void begin() = 0;
  /// Judges as many more as `judge_ops` of the policy pays for.
  virtual void finish() = 0;
  /// Of the plans judged so far; infinite if there are none.
  virtual double seconds() const = 0;
  /// The fastest of them, whose origin lists all; or `start`. Ends the search.
  virtual JudgedPlan take() = 0;
};

/// All that it refers to must outlive the search.
std::unique_ptr<JudgedSearch> judged_search(const Question& question, const Judge& judge, const Plan& start);

}  // namespace tilerail
