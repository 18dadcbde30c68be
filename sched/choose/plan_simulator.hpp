#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// The time and the energy of a plan.
struct PlanCost {
  Seconds makespan{0};
  std::optional<Joules>
      energy;  // of its devices; absent if the machine's watts are unknown
  std::vector<Seconds> ends =
      {};  // end of the last operation of each device; empty: unknown
};

/// Evaluates plans as the simulator does. Deterministic and thread-safe.
struct PlanSimulator {
  std::function<PlanCost(const Plan&)> of =
      {};             // empty: the estimate of cost/estimate.hpp
  Seconds per_op{0};  // approximate evaluation time per operation of a plan
};

}  // namespace tilerail
