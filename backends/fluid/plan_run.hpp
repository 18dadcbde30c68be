#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/fluid/engine_limits.hpp"
#include "backends/fluid/kernel_room.hpp"
#include "backends/fluid/prepared_plan.hpp"
#include "backends/fluid/shared_machine.hpp"

namespace tilerail {

/// One simulation of one plan. An operation goes through
///   waiting -> (issued) -> ready -> (engines free) -> started -> [latency -> flow] | kernel -> ended.
class PlanRun final : private SharedMachine::Listener {  // NOLINT(cppcoreguidelines-virtual-class-destructor): final
 public:
  /// `load_factors` multiply the times of kernels that slow down under load, by memory. Everything must outlive the
  /// run.
  PlanRun(const PreparedPlan& prepared, const std::vector<double>& load_factors, std::vector<OpTime>& ops,
          const MakeMachine& machine);

  /// Puts the times into `ops`.
  void run();

 private:
  enum class Event : uint8_t { issued, latency_paid };
  struct TimedEvent {
    double date;
    OpId op;
    Event event;
    bool operator>(const TimedEvent& o) const { return date != o.date ? date > o.date : op > o.op; }
  };

  void activity_ended(SharedMachine::Slot slot) override;
  void instant() override;

  bool is_future(double date) const { return date > machine_->now() + resolution_; }
  void take_due_events();
  void add_event(double date, OpId op, Event event);
  void make_ready(OpId op);
  void start(OpId op);
  bool waits_for_room(OpId op);
  void start_copy(OpId op);
  void start_flow(OpId op);
  void start_kernel(OpId op);
  void run_kernel(OpId op);
  void finish(OpId op);
  void tell(OpId from, OpId to);
  double hand_on(size_t from, const Op& to) const;
  void retry_waiting();

  const Plan& plan_;
  const PlanGraph& graph_;
  const PlanKernelCosts& kernels_;
  const CopyRoutes& copies_;
  std::vector<OpTime>& times_;  // of operations that have not started: when they are issued
  const std::vector<double>& load_factors_;
  EngineLimits limits_;
  KernelRoom room_;
  std::vector<std::vector<OpId>> without_room_;  // by memory with workers: kernels that wait for room

  double between_engines_, between_gpus_;  // seconds, of hand_on
  std::vector<MemoryId> owners_;           // by queue: the GPU whose streams it has
  /// By join: when the operations that it waits for ended last, by their queue.
  std::unordered_map<size_t, std::map<size_t, double>> through_;
  double resolution_;                // seconds; events closer together are simultaneous
  std::vector<uint32_t> waits_for_;  // by operation: predecessors that have not ended
  std::vector<OpId> running_;        // by queue
  std::vector<OpId> ready_;          // heap, lowest operation first
  std::vector<OpId> retry_;          // operations whose engine has come free
  std::vector<TimedEvent> events_;   // heap, earliest first
  size_t ended_ = 0;
  std::unique_ptr<SharedMachine> machine_;
};

}  // namespace tilerail
