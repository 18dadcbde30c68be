#pragma once

#include "plan/plan.hpp"
#include "report/timeline/annotate.hpp"

namespace tilerail::study {

/// Where the difference of two makespans of one plan comes from, in seconds, predicted
/// minus measured. The parts add up to the difference.
///
/// Along the measured critical path (report/timeline/critical_path.hpp), each operation
/// counts by the difference of its durations, and each pause before one by the difference
/// of the pauses. The path goes on at the operation that freed an engine, so busy engines
/// count by their operations; of what is left, a pause is `waiting` while the engine that
/// the operation needs is taken by others, else `issue`: nothing but handing it over
/// holds it up. How much later than the last operation of the path the predicted timeline
/// ends is waiting, too.
struct ErrorSplit {
  double kernel = 0, copy = 0, waiting = 0, issue = 0;

  double total() const { return kernel + copy + waiting + issue; }
};

/// Timelines of `plan`, one entry an operation. An empty plan has no parts.
ErrorSplit split_error(const Plan& plan, const Topology& topology,
                       const Timeline& predicted, const Timeline& measured);

}  // namespace tilerail::study
