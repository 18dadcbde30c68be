#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// Which 2-D copies between hosts and devices find in the device's cache where the pages of their columns are, because
/// an earlier copy of the plan has just used them. docs/model.md#copies-in-two-dimensions
class PageReuse {
 public:
  /// Nothing is known of any copy where the machine has no rates of such copies. Memory: 4 bytes an operation.
  PageReuse(const Plan& plan, const Topology& topology);

  /// The share of the entries that a copy finds, in [0, 1].
  double of(OpId copy) const { return shares_.empty() ? 0 : double(shares_[copy.index()]); }

 private:
  std::vector<float> shares_;  // by operation
};

}  // namespace tilerail
