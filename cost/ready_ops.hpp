#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "model/base/indices.hpp"
#include "plan/graph.hpp"

namespace tilerail {

/// The operations of a plan in the order in which they can start, given the ends of the
/// others.
class ReadyOps {
 public:
  /// `issued`: by operation, when it has been submitted.
  ReadyOps(const Plan& plan, std::vector<Seconds> issued)
      : graph_{plan}, waits_for_{graph_.waits_for()}, ready_{std::move(issued)} {
    for (const auto op : indices(waits_for_))
      if (waits_for_[op] == 0) queue_.push({ready_[op], OpId{op}});
  }

  struct OpStart {
    Seconds at;
    OpId op;
    auto operator<=>(const OpStart&) const = default;
  };
  /// The operation that can start first; ties go to the lowest id. Absent if all have
  /// ended.
  std::optional<OpStart> next() {
    if (queue_.empty()) return std::nullopt;
    const OpStart first = queue_.top();
    queue_.pop();
    return first;
  }
  /// Requeues the operation that was next: it must wait for another resource.
  void postpone(const OpStart& ready, Seconds until) { queue_.push({until, ready.op}); }
  /// Releases the successors of an operation that ends at `end`.
  void ended(OpId op, Seconds end) {
    for (const OpId next : graph_.successors(op)) {
      Seconds& ready = ready_[next.index()];
      ready = std::max(ready, end);
      if (--waits_for_[next.index()] == 0) queue_.push({ready, next});
    }
  }

 private:
  PlanGraph graph_;
  std::vector<uint32_t> waits_for_;
  std::vector<Seconds> ready_;
  std::priority_queue<OpStart, std::vector<OpStart>, std::greater<>> queue_;
};

}  // namespace tilerail
