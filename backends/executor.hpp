#pragma once

#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Runs plans. Every backend keeps the one execution rule (plan/plan.hpp): an operation
/// starts when its queue predecessor and its dependencies have ended. An executor decides
/// nothing else and knows no policies.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Executes the plan once. Times count from the moment the first operation could have
  /// been issued. Throws InputError when the plan does not fit the executor's machine;
  /// the executor stays usable after it.
  virtual Timeline execute(const Plan& plan) = 0;
};

}  // namespace tilerail
