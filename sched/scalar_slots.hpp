#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// Where alpha and beta of a problem stand in its plan. A plan depends on them only through whether they are 0, so one
/// plan serves all other values: it is made with marks in their place, and each use writes the values in.
class ScalarSlots {
 public:
  /// The problem with marks for its alpha and beta; a 0 stays.
  static GemmProblem marked(GemmProblem problem);

  /// `plan` is of a marked problem.
  explicit ScalarSlots(const Plan& plan);

  /// Writes alpha and beta into the plan that this was made of, or a copy of it. A scalar that was 0 in the marked
  /// problem stays 0.
  void write(Plan& plan, double alpha, double beta) const;

 private:
  std::vector<std::size_t> alpha_as_alpha_, beta_as_alpha_, beta_as_beta_;  // operations, by what their fields hold
};

}  // namespace tilerail
