#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/copy_times.hpp"
#include "model/machine/flow_route.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The route, latency and rate of a copy.
struct CopyRoute {
  size_t flow = 0;     // index of its FlowRoute
  Seconds latency{0};  // before the first byte flows
  Rate rate{0};        // if nothing else runs
};

/// The routes of the copies of a plan. Copies between the same memories differ only in
/// their cap, the maximum rate under any load: the per-flow caps of the links and, if a
/// side is not contiguous, strided efficiency (by column and pitch) times the rate of the
/// pair. Memory: 4 bytes per operation.
class CopyRoutes {
 public:
  CopyRoutes(const Plan& plan, const Topology& topology, const PlanKernelCosts& kernels);

  /// Route of a copy; null for a copy within a memory, which is a kernel
  /// (PlanKernelCosts) or takes no time.
  const CopyRoute* of(OpId op) const {
    const uint32_t i = index_[op.index()];
    return i == none ? nullptr : &routes_[i];
  }

  std::span<const FlowRoute> flow_routes() const { return flows_; }

  /// Time of all copies one after another.
  Seconds total() const { return total_; }

 private:
  static constexpr uint32_t none = 0xFFFFFFFF;

  std::vector<CopyRoute> routes_;
  std::vector<FlowRoute> flows_;  // by route
  std::vector<uint32_t> index_;   // by operation, into routes_
  Seconds total_{0};
};

}  // namespace tilerail
