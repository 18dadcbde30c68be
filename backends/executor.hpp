#pragma once

#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Runs plans. Every backend follows the one execution rule (plan/plan.hpp): an operation
/// starts when its queue predecessor and its dependencies have ended. An executor makes
/// no other decision and does not depend on policies.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Executes the plan once. Times count from the moment when the first operation could
  /// have been issued. Throws InputError if the plan does not fit the executor's machine;
  /// the executor stays usable.
  virtual Timeline execute(const Plan& plan) = 0;
};

}  // namespace tilerail
