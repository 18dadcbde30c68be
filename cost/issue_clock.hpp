#pragma once

#include <cstdint>
#include <vector>

#include "cost/kernel_costs.hpp"
#include "plan/plan.hpp"
#include "plan/stream_waits.hpp"

namespace tilerail {

/// When host threads hand operations over: one a device, or one for all, each in plan order. A dependency costs where
/// it is one between streams that an earlier one of the same two does not imply (docs/model.md#simulator). A plan that
/// is one graph is handed over in the same order at the costs of graphs, where the machine has them: one host thread
/// launches it, each device takes its kernels by itself. What emulates a library has that library's threads.
class IssueClock {
 public:
  enum class Hands : uint8_t {
    of_plan,  // a graph's, or threads', with what the emulated library takes
    threads,  // threads that do nothing else
  };
  IssueClock(const Plan& plan, const Topology& topology, Hands hands = Hands::of_plan);

  /// Time from the start of the execution until this operation has been handed over. Ask in plan order, once each.
  Seconds issue(OpId id);

 private:
  Seconds by_thread(const Op& op, size_t waits);
  Seconds in_graph(const Op& op, const std::vector<OpId>& waits, MemoryId device);

  const Plan& plan_;
  const Topology& topology_;
  Hands hands_;
  const GraphCost* graph_;  // null: operation by operation
  StreamWaits waits_;
  KernelCosts kernels_;
  bool by_shape_;                // whether the machine says what handing over shapes costs
  std::vector<Seconds> thread_;  // by device: its thread, or the front end that takes the kernels of a graph
  Seconds launching_{0};         // of a graph: the host's part of it so far
};

}  // namespace tilerail
