#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// The time and the energy of a plan.
struct Judgement {
  Seconds makespan{0};
  std::optional<Joules>
      energy;  // of its devices; absent where the machine's watts are not known
  std::vector<Seconds> ends =
      {};  // when the last operation of each of its devices ends; empty: not told
};

/// Judges plans, as the simulator does. Deterministic; several threads may ask at the
/// same time.
struct Judge {
  std::function<Judgement(const Plan&)> of =
      {};             // none: the estimate of cost/estimate.hpp
  Seconds per_op{0};  // about what judging an operation of a plan costs
};

}  // namespace tilerail
