#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cost/clock.hpp"
#include "cost/kernel_costs.hpp"
#include "cost/resources.hpp"
#include "plan/builder.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/tasks/arena.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

class Copier;

/// Memory of tiles of A and of B on one device, each with its own slots.
struct InputArenas {
  Arena a, b;
};

/// Shared state of planning one (sub-)problem. Devices are numbered 0 .. devices.size() -
/// 1 ("slots").
struct PlanContext {
  const Topology& topology;
  const Decisions& decisions;
  std::span<const MemoryId> devices;
  PlanBuilder& builder;
  const Router& router;
  Clock& clock;
  KernelCosts& costs;
  std::vector<Arena>& arenas;         // one per device
  std::span<const BufferId> tensors;  // the first buffer of each
  Copier* copier = nullptr;
  std::vector<InputArenas>* inputs = nullptr;  // input-buffers only: one per device

  /// The first buffer of a tensor, which stands for the whole.
  BufferId whole(TensorId tensor) const { return tensors[tensor.index()]; }
  MemoryId memory(const View& view) const {
    return builder.plan().buffer(view.buffer).memory;
  }
  Buffer block(const View& view) const { return builder.block(view); }
  DType dtype(const View& view) const { return builder.plan().buffer(view.buffer).dtype; }
  Bytes bytes(const View& view) const {
    return Bytes{double(view.rows * view.cols * element_size(dtype(view)))};
  }

  /// The arena for tiles that a device fetches of this matrix.
  Arena& arena_for(const View& input, size_t device) const {
    if (!inputs) return arenas[device];
    InputArenas& own = (*inputs)[device];
    return builder.plan().buffer(input.buffer).tensor == tensor_a ? own.a : own.b;
  }

  /// Adds an operation on behalf of a device. Without overlap, a device's operations run
  /// in sequence.
  OpId emit(size_t device, const Op& op, const Operands& operands, Deps& deps) {
    if (!decisions.choices.overlap) deps.after(last_of_device[device]);
    for (const OpId awaited : awaited_by[device]) deps.after(awaited);
    const OpId id = builder.add(op, operands, deps);
    if (!decisions.choices.overlap) last_of_device[device] = id;
    return id;
  }
  Seconds time(const Op& kernel, const Operands& operands, size_t device) const {
    return costs.of(builder.plan(), kernel, operands, devices[device]).time;
  }
  std::vector<std::optional<OpId>> last_of_device =
      std::vector<std::optional<OpId>>(devices.size());
  /// By device: operations for which its thread has waited, before its next submissions.
  std::vector<std::vector<OpId>> awaited_by =
      std::vector<std::vector<OpId>>(devices.size());
};

}  // namespace tilerail
