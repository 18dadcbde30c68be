#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// Successors in a plan, from both dependencies and queue order. A dependency on the
/// queue predecessor counts twice, on both sides. Memory: 8 bytes per operation plus 4
/// bytes per dependency and per queue predecessor.
class PlanGraph {
 public:
  explicit PlanGraph(const Plan& plan);

  /// Operations that wait for `op`, in unspecified order.
  std::span<const OpId> successors(OpId op) const {
    return {successors_.data() + begin_[op.index()],
            successors_.data() + begin_[op.index() + 1]};
  }

  /// By operation: the number of its predecessors.
  const std::vector<uint32_t>& waits_for() const { return waits_for_; }

 private:
  std::vector<uint32_t> begin_;  // ops + 1 offsets into successors_
  std::vector<OpId> successors_;
  std::vector<uint32_t> waits_for_;
};

}  // namespace tilerail
