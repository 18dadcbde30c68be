#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sched/plan.hpp"

namespace tilerail {

/// The routes that the copy queues of a plan use.
class QueueRoutes {
 public:
  struct Route {
    std::uint32_t index = 0;    // into pairs()
    double latency = 0;         // seconds before the first byte flows
    double rate = 0;            // B/s of one copy alone
    std::uint64_t traffic = 1;  // bytes that cross it for each byte copied: a copy within one memory reads and writes
  };

  QueueRoutes(const Plan& plan, const Topology& topology);

  /// Absent for compute queues and for copies within a memory whose bandwidth is not known: those take no time.
  const std::optional<Route>& of(QueueId queue) const { return of_queue_[queue.index()]; }

  /// Distinct pairs of memories.
  std::span<const std::pair<MemoryId, MemoryId>> pairs() const { return pairs_; }

 private:
  std::vector<std::optional<Route>> of_queue_;
  std::vector<std::pair<MemoryId, MemoryId>> pairs_;
};

}  // namespace tilerail
