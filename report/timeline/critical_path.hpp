#pragma once

#include <compare>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/base/intervals.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The operations that decide how long a timeline is, last first: from the one that ends last to the one among its
/// dependencies and its queue predecessor that ended last, and so on. Durations and pauses between them add up to the
/// makespan. Empty for an empty plan. `times` has one entry an operation.
std::vector<OpId> critical_path(const Plan& plan, std::span<const OpTime> times);

/// What operations wait for: the compute units of a device, its copy engines of one role, or, where one limit counts
/// copies and kernels together (`engines.total`), its workers.
struct Engine {
  enum class Kind { compute, h2d, d2h, peer, workers };
  Kind kind = Kind::compute;
  MemoryId device;

  auto operator<=>(const Engine&) const = default;
};

Engine engine_of(const Plan& plan, const Op& op, const Topology& topology);

/// When the engines of a timeline were taken: compute units while a kernel ran, copy engines and workers while as many
/// operations ran as the topology allows, one where it sets no limit. Where copies and kernels share workers, a kernel
/// also waits while those that run leave no room for its share of the device. Keeps references to plan and topology.
class EngineUse {
 public:
  EngineUse(const Plan& plan, const Topology& topology, std::span<const OpTime> times);

  /// Parts of the time before an operation: others left it no engine, or no room, or nothing but handing it over held
  /// it up.
  struct Pause {
    double waiting = 0, issue = 0;
    double room = 0;  // of `waiting`: engines were free
  };

  /// The pause from one moment to another, in seconds, before an operation. A negative one counts as waiting: the
  /// operation started before one had ended that preceded it in another timeline.
  Pause pause(OpId op, double from, double to) const;

 private:
  using Room = std::pair<MemoryId, double>;  // device, share of it that a kernel fills
  void add_rooms(std::span<const OpTime> times);

  const Plan& plan_;
  const Topology& topology_;
  std::map<Engine, IntervalSet<double>> taken_;
  std::map<OpId, double> shares_;  // of kernels on devices with workers
  std::map<Room, IntervalSet<double>> no_room_;
};

}  // namespace tilerail
