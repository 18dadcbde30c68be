#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/base/intervals.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A resource of operations: the compute units of a device, its copy engines of one role,
/// or its workers, if one limit counts copies and kernels together (`engines.total`).
struct Engine {
  enum class Kind { compute, h2d, d2h, peer, workers };
  Kind kind = Kind::compute;
  MemoryId device;

  auto operator<=>(const Engine&) const = default;
};

Engine engine_of(const Plan& plan, const Op& op, const Topology& topology);

/// When the engines of a timeline were busy: compute units while a kernel ran, copy
/// engines and workers while as many operations ran as the topology allows (without a
/// limit: one). If copies and kernels share workers, a kernel also waits while running
/// kernels leave no room on the device. Keeps references to all arguments.
class EngineUse {
 public:
  EngineUse(const Plan& plan, const Topology& topology, std::span<const OpTime> times);

  /// Parts of a pause before an operation: `waiting` for an engine or for room, or
  /// `issue`, if only its submission delayed it.
  struct Pause {
    double waiting = 0, issue = 0;
    double room = 0;  // part of `waiting` with free engines
  };

  /// The pause between two times before an operation, in seconds. A negative pause counts
  /// as waiting: the operation started before the end of its predecessor in another
  /// timeline.
  Pause pause(OpId op, double from, double to) const;

  /// The operation whose end let `op` start: the last one that ended after `ready` and no
  /// later than the start of `op`, and that occupied until then an engine or room needed
  /// by `op`. Nullopt if nothing delayed `op`.
  std::optional<OpId> freed_by(OpId op, double ready) const;

 private:
  using Ends = std::vector<std::pair<double, OpId>>;  // end times of an engine's
                                                      // operations, ascending
  void add_rooms();
  const IntervalSet<double>* no_room_for(OpId op) const;

  const Plan& plan_;
  const Topology& topology_;
  std::span<const OpTime> times_;
  std::map<Engine, Ends> ends_;
  std::map<Engine, IntervalSet<double>> taken_;
  std::map<MemoryId, IntervalSet<double>>
      no_room_;  // when kernels filled a device with workers
};

/// The operations that determine the makespan, last first, from the operation with the
/// latest end. Each is followed by the operation that it waited for: if it was ready and
/// its engine was busy, the one that freed the engine, else the latest of its
/// dependencies and its queue predecessor. Durations and pauses add up to the makespan.
/// Empty for an empty plan. `times` has one entry per operation and is the source of
/// `engines`.
std::vector<OpId> critical_path(const Plan& plan, std::span<const OpTime> times,
                                const EngineUse& engines);

}  // namespace tilerail
