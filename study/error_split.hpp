#pragma once

#include "plan/plan.hpp"
#include "report/timeline/annotate.hpp"

namespace tilerail::study {

/// Where the difference of two makespans of one plan comes from, in seconds, predicted minus measured. The parts add up
/// to the difference.
///
/// Along the measured critical path (from the operation that ends last to the one among its dependencies and its queue
/// predecessor that ended last, and so on), each operation counts by the difference of its durations, and each pause
/// before one by the difference of the pauses. A pause is `waiting` while the copy engine, or the GPU's compute units,
/// that the operation needs are busy with others, else `issue`: nothing but handing it over holds it up. How much later
/// than that operation the predicted timeline ends is waiting, too.
struct ErrorSplit {
  double kernel = 0, copy = 0, waiting = 0, issue = 0;

  double total() const { return kernel + copy + waiting + issue; }
};

/// Timelines of `plan`, one entry an operation. An empty plan has no parts.
ErrorSplit split_error(const Plan& plan, const Topology& topology, const Timeline& predicted, const Timeline& measured);

}  // namespace tilerail::study
