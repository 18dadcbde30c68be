#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sched/plan.hpp"

namespace tilerail {

/// When host threads hand operations over: one a device, or one for all, each in plan order. A dependency costs where
/// it is one between streams that an earlier one of the same two does not imply (docs/model.md#simulator).
class IssueClock {
 public:
  IssueClock(const Plan& plan, const Topology& topology);

  /// Seconds from the start of the execution until this operation has been handed over. Ask in plan order, once each.
  double issue(OpId id);

 private:
  int new_waits(OpId id);

  const Plan& plan_;
  const Topology& topology_;
  std::vector<QueueId> stream_of_;                  // by queue
  std::vector<double> thread_;                      // by device
  std::unordered_map<std::uint64_t, OpId> waited_;  // by stream and other stream: the last operation waited for
};

}  // namespace tilerail
