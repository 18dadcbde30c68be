#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sched/tasks/copier.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// A plan with its decisions, without operations.
Plan plan_by(const Decisions& decisions, const Problem& problem, const Topology& topology,
             std::string policy);

/// Clears the graph option of a plan that gains nothing as a graph
/// (cost/issue_times.hpp), also in its decisions. For plans with operations.
void settle_graph(Plan& plan, const Topology& topology);

/// Inputs shared by all regions of a plan.
struct PlanSetup {
  const Topology& topology;
  const Resources& resources;
  const Decisions& decisions;
  std::span<const MemoryId> devices;
  std::span<const int64_t> capacities;  // bytes for tiles, one per device
  PlanBuilder& builder;
  KernelCosts& costs;
  std::vector<BufferId> tensors;       // the first buffer of each
  const SharedLinks* links = nullptr;  // routing=link-map only
};

/// State for planning one region: a clock that starts at 0, free memory for tiles, and
/// the context that refers to both.
class Workspace {
 public:
  /// `clock`: options without the number of devices. `slot_bytes` of 0: every tile has
  /// its own memory.
  Workspace(const PlanSetup& setup, Clock::Options clock, int64_t slot_bytes);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  PlanContext& context() { return context_; }
  /// Adds the memory used by tiles to the plan's tile memory.
  void note_peaks(Plan& plan) const;

 private:
  Router router_;
  Clock clock_;
  std::vector<Arena> arenas_;  // one per device
  std::vector<InputArenas>
      inputs_;  // one per device; empty if tiles of A, B and C share memory
  PlanContext context_;
  Copier copier_{context_};
};

}  // namespace tilerail
