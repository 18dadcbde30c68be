#pragma once

#include <cstdint>
#include <memory>

#include "plan/plan.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// Operations that a search spends on each plan, in addition to the plan's own
/// operations. docs/model.md#effort
inline constexpr int cost_of_plan = 100;

/// Costs per operation of a simulated plan, in addition to 1 for planning and estimating.
inline constexpr int cost_of_simulating = 2;

/// The search for the fastest plan on all devices of a question. The sequence of plans
/// depends on the question alone: a longer search tries all plans of a shorter search and
/// more. docs/model.md#evaluator
class SetSearch {
 public:
  virtual ~SetSearch() = default;

  /// Continues until the search has spent `ops` operations (docs/model.md#evaluator) or
  /// no plan is left.
  virtual void run_until(int64_t ops) = 0;
  /// The time of the fastest plan so far; infinite if no plan was simulated.
  virtual double seconds() const = 0;
  /// All simulated plans, in order.
  virtual const std::vector<PlanCandidate>& simulated() const = 0;
  virtual bool has_simulated(const Plan& plan) const = 0;
  /// The fastest plan, or `start` if no plan was simulated. The plan's origin lists all
  /// simulated plans; its reason contains the index of this plan. Ends the search.
  virtual Plan take() = 0;
};

/// All arguments must outlive the search.
std::unique_ptr<SetSearch> set_search(const Question& question,
                                      const PlanSimulator& simulator, const Plan& start);

}  // namespace tilerail
