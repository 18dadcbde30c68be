#pragma once

#include <compare>
#include <map>
#include <span>
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
/// operations ran as the topology allows, one where it sets no limit.
class EngineUse {
 public:
  EngineUse(const Plan& plan, const Topology& topology, std::span<const OpTime> times);

  /// Parts of the time before an operation: the engine was taken by others, or nothing but handing it over held it up.
  struct Pause {
    double waiting = 0, issue = 0;
  };

  /// The pause from one moment to another, in seconds, before an operation on this engine. A negative one counts as
  /// waiting: the operation started before one had ended that preceded it in another timeline.
  Pause pause(const Engine& engine, double from, double to) const;

 private:
  std::map<Engine, IntervalSet<double>> taken_;
};

}  // namespace tilerail
