#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/base/units.hpp"
#include "plan/plan.hpp"
#include "sched/policy/choices.hpp"
#include "sched/policy/grid.hpp"

namespace tilerail {

class Chooser;
class Fetcher;
class GemmTasks;
class TileScheduler;
class Tiling;
struct Field;
struct PlanSimulator;
struct Metric;
struct Question;

/// Limits of the tasks that a device has simultaneously, in a TaskLoop in model time.
struct TasksAtOnce {
  size_t unfinished =
      std::numeric_limits<size_t>::max();  // tasks whose kernels have not ended
  size_t waiting = std::numeric_limits<size_t>::max();  // tasks that wait for tiles
};

/// A GPU that has a tile or is about to receive it, as a source for another GPU.
struct Peer {
  size_t distance;          // difference of the numbers of the GPUs
  SecondsPerByte per_byte;  // of a copy from this peer
  bool is_coming,
      is_shown;  // the tile is in flight to the peer; other GPUs may use the peer's tile
};

/// Rules of a library that replace the planner's own rules. This base class replaces
/// nothing.
class Emulation {
 public:
  virtual ~Emulation() = default;

  /// The options of policies with this emulation; null: only the core's options.
  virtual const std::vector<Field>* fields() const { return nullptr; }
  /// The emulation with all options at their defaults.
  virtual std::shared_ptr<const Emulation> idle() const { return nullptr; }

  /// The tiles that the library tries in turn; empty: no rule for the routine.
  virtual std::vector<int64_t> tiles(const Question&, const TileScheduler&, Grid) const {
    return {};
  }
  /// The best of several plans that the library tries; absent: it does not try several.
  virtual std::optional<Plan> timed_plan(const Question&, const PlanSimulator&) const {
    return std::nullopt;
  }
  /// The plan on the devices that the library selects by the metric; absent: no rule.
  virtual std::optional<Plan> selected_plan(const Question&, const Metric&) const {
    return std::nullopt;
  }
  /// Whether workloads are predicted by the model of PARALiA's library.
  virtual bool predicts_as_library() const { return false; }
  /// The grid for grid=emulated.
  virtual Grid grid(int gpus) const { return {1, gpus, 1}; }
  /// The source of a tile for routing=emulated, as the index of a peer; absent: the home.
  virtual std::optional<size_t> source(std::span<const Peer>) const {
    return std::nullopt;
  }

  /// Whether GPUs request tasks in model time, using past events only.
  virtual bool is_in_model_time() const { return false; }
  /// Whether any GPU may compute any tile of C.
  virtual bool has_one_queue() const { return false; }
  virtual TasksAtOnce limits() const { return {}; }
  /// The order of tasks in model time; null: the owners of tiles choose. `most`: tiles of
  /// C that fit on a GPU.
  virtual std::shared_ptr<Chooser> chooser(const GemmTasks&, const Tiling&, Fetcher&,
                                           size_t /*most*/) const {
    return nullptr;
  }

  /// Whether GPUs start with the tiles of an earlier call.
  virtual bool is_warm() const { return false; }
  /// The overheads of the run-time system on this number of GPUs.
  virtual RuntimeCosts costs(size_t) const { return {}; }
};

/// The emulation of the choices, or an emulation without effect.
inline const Emulation& emulation_of(const Choices& choices) {
  static const Emulation none;
  return choices.emulation ? *choices.emulation : none;
}

}  // namespace tilerail
