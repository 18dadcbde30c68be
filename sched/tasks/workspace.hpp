#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sched/tasks/copier.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// A plan without operations, that says what was decided.
Plan plan_by(const Decisions& decisions, const GemmProblem& problem,
             const Topology& topology, std::string policy);

/// A plan that gains nothing as a graph (cost/issue_times.hpp) is none, and its decisions
/// say so. For plans that have their operations.
void settle_graph(Plan& plan, const Topology& topology);

/// What all regions of a plan are planned with.
struct PlanSetup {
  const GemmProblem& problem;
  const Topology& topology;
  const Resources& resources;
  const Decisions& decisions;
  std::span<const MemoryId> devices;
  std::span<const int64_t> capacities;  // bytes for tiles, one a device
  PlanBuilder& builder;
  KernelCosts& costs;
  BufferId matrix_a, matrix_b, matrix_c;
  const SharedLinks* links = nullptr;  // routing=link-map only
};

/// What one region is planned with: a clock that starts at 0, memory for tiles that is
/// free, and the context that refers to both.
class Workspace {
 public:
  /// `clock`: but for its number of devices. `slot_bytes` of 0: every tile has memory of
  /// its own.
  Workspace(const PlanSetup& setup, Clock::Options clock, int64_t slot_bytes);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  PlanContext& context() { return context_; }
  /// Adds to what the plan says of its tiles how much of the memory they took.
  void note_peaks(Plan& plan) const;

 private:
  Router router_;
  Clock clock_;
  std::vector<Arena> arenas_;  // one a device
  std::vector<InputArenas>
      inputs_;  // the same; empty where tiles of A, B and C share memory
  PlanContext context_;
  Copier copier_{context_};
};

}  // namespace tilerail
