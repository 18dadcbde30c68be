#pragma once

#include <cstdint>
#include <optional>

#include "sched/policy/emulation.hpp"
#include "sched/tasks/task.hpp"

namespace tilerail {

/// Whose turn it is to ask for a task: devices one after another, or always the one that
/// is free first by the clock.
enum class Wake : uint8_t { in_turn, first_free };

/// Answers "which task next on this device?". What a policy knows of order and of owners
/// is in its chooser; devices are counted 0, 1, ... in the order of the plan.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual Wake wakes() const { return Wake::in_turn; }

  /// Nothing: there is none left for the device, or none yet.
  virtual std::optional<Task> next(size_t device) = 0;

  /// The task that `next` gave was planned.
  virtual void placed(size_t /*device*/, const Task& /*task*/) {}

  /// In time: the task has ended.
  virtual void ended(size_t /*device*/, const Task& /*task*/) {}
};

}  // namespace tilerail
