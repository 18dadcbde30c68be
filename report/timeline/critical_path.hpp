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

/// What operations wait for: the compute units of a device, its copy engines of one role,
/// or, where one limit counts copies and kernels together (`engines.total`), its workers.
struct Engine {
  enum class Kind { compute, h2d, d2h, peer, workers };
  Kind kind = Kind::compute;
  MemoryId device;

  auto operator<=>(const Engine&) const = default;
};

Engine engine_of(const Plan& plan, const Op& op, const Topology& topology);

/// When the engines of a timeline were taken: compute units while a kernel ran, copy
/// engines and workers while as many operations ran as the topology allows, one where it
/// sets no limit. Where copies and kernels share workers, a kernel also waits while those
/// that run leave no room on the device. Keeps references to all.
class EngineUse {
 public:
  EngineUse(const Plan& plan, const Topology& topology, std::span<const OpTime> times);

  /// Parts of the time before an operation: others left it no engine, or no room, or
  /// nothing but handing it over held it up.
  struct Pause {
    double waiting = 0, issue = 0;
    double room = 0;  // of `waiting`: engines were free
  };

  /// The pause from one moment to another, in seconds, before an operation. A negative
  /// one counts as waiting: the operation started before one had ended that preceded it
  /// in another timeline.
  Pause pause(OpId op, double from, double to) const;

  /// The operation whose end let `op` start: the last of those that end after `ready` and
  /// no later than `op` starts, and that held until then what `op` needed. None where
  /// nothing held it up.
  std::optional<OpId> freed_by(OpId op, double ready) const;

 private:
  using Ends = std::vector<std::pair<double, OpId>>;  // when operations of an engine
                                                      // ended, ascending
  void add_rooms();
  const IntervalSet<double>* no_room_for(OpId op) const;

  const Plan& plan_;
  const Topology& topology_;
  std::span<const OpTime> times_;
  std::map<Engine, Ends> ends_;
  std::map<Engine, IntervalSet<double>> taken_;
  std::map<MemoryId, IntervalSet<double>>
      no_room_;  // when the kernels of a device with workers filled it
};

/// The operations that decide how long a timeline is, last first, from the one that ends
/// last on. Behind each comes the one that it waited for: that which freed its engine
/// where it was ready and others held the engine, else the one among its dependencies and
/// its queue predecessor that ended last. Durations and pauses between them add up to the
/// makespan. Empty for an empty plan. `times` has one entry an operation, and `engines`
/// is made of them.
std::vector<OpId> critical_path(const Plan& plan, std::span<const OpTime> times,
                                const EngineUse& engines);

}  // namespace tilerail
