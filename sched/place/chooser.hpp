#pragma once

#include <cstdint>
#include <optional>

#include "sched/policy/emulation.hpp"
#include "sched/tasks/task.hpp"

namespace tilerail {

/// Dispatch order: devices in turn, or the device that is free first by the clock.
enum class DispatchOrder : uint8_t { in_turn, first_free };

/// Chooses the next task of a device. A chooser contains a policy's rules of order and
/// ownership; devices are numbered in the order of the plan.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual DispatchOrder dispatch_order() const { return DispatchOrder::in_turn; }

  /// Absent: no task is left for the device, or none is ready.
  virtual std::optional<Task> next(size_t device) = 0;

  /// Called when the task returned by `next` was planned.
  virtual void placed(size_t /*device*/, const Task& /*task*/) {}

  /// In time: called when the task has ended.
  virtual void ended(size_t /*device*/, const Task& /*task*/) {}
};

}  // namespace tilerail
