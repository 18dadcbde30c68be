#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail::cuda {

/// One copy or kernel in the profiler's record: nanoseconds on one clock for all devices.
struct ActivityRecord {
  uint64_t launcher;  // the call that launched it, or the node of a graph
  uint64_t start, end;
};

/// The launcher of an activity; calls and nodes of graphs have disjoint numbers.
constexpr uint64_t launcher_of_call(uint32_t correlation) { return correlation; }
constexpr uint64_t launcher_of_node(uint64_t node) { return node | uint64_t{1} << 63; }

/// The operation of a call or of a recorded node.
struct LaunchMark {
  uint64_t launcher;
  OpId op;
};

/// Times of all operations, in seconds since `origin`. An operation lasts from the first
/// start to the last end of the activities that its calls or nodes launched. An operation
/// without work (a join, an empty view) ends when its dependencies and its queue
/// predecessor have ended. Throws std::runtime_error naming the first operation with work
/// but without a record.
std::vector<OpTime> match_activities(const Plan& plan,
                                     std::span<const ActivityRecord> records,
                                     std::span<const LaunchMark> marks, uint64_t origin);

/// Fills in the times of operations without work; `known` marks measured times.
void derive_idle_operations(const Plan& plan, const std::vector<bool>& known,
                            std::vector<OpTime>& times);

}  // namespace tilerail::cuda
