#pragma once

#include "plan/plan.hpp"
#include "report/timeline/annotate.hpp"

namespace tilerail::study {

/// Splits the difference of two makespans of one plan, predicted minus measured, in
/// seconds. The parts add up to the difference.
///
/// Along the measured critical path (report/timeline/critical_path.hpp), each operation
/// counts with the difference of its durations, and each pause before an operation with
/// the difference of the pauses. The path continues at the operation that freed an
/// engine, so busy engines count as their operations. Any other pause is `waiting` while
/// other operations occupy the needed engine, else `issue`: only its submission delays
/// the operation. `waiting` also contains the predicted time after the end of the path's
/// last operation.
struct ErrorSplit {
  double kernel = 0, copy = 0, waiting = 0, issue = 0;

  double total() const { return kernel + copy + waiting + issue; }
};

/// Both timelines are of `plan`, with one entry per operation. An empty plan has no
/// parts.
ErrorSplit split_error(const Plan& plan, const Topology& topology,
                       const Timeline& predicted, const Timeline& measured);

}  // namespace tilerail::study
