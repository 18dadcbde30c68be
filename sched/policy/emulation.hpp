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
#include "sched/policy/grid.hpp"

namespace tilerail {

class Chooser;
class Fetcher;
class GemmTasks;
class TileScheduler;
class Tiling;
struct Choices;
struct Field;
struct Judge;
struct Metric;
struct Question;

/// How many tasks a device may have at once in a TaskLoop that goes by time.
struct TasksAtOnce {
  std::size_t unfinished = std::numeric_limits<std::size_t>::max();  // given, and their kernels not ended
  std::size_t waiting = std::numeric_limits<std::size_t>::max();     // of these, not all that they read is there
};

/// A GPU that has a tile or waits for it, as a source for another GPU.
struct Peer {
  std::size_t distance;      // of their numbers
  SecondsPerByte per_byte;   // of a copy from it
  bool is_coming, is_shown;  // the tile is on its way to it; it lets others know that it has the tile
};

/// Rules of a library in the place of the planner's own. A policy without one, or with this one, emulates nothing.
class Emulation {
 public:
  virtual ~Emulation() = default;

  /// The options of policies that have this emulation; null: those of the core.
  virtual const std::vector<Field>* fields() const { return nullptr; }
  /// The emulation of the same room that emulates nothing.
  virtual std::shared_ptr<const Emulation> idle() const { return nullptr; }

  /// Tiles that the library takes or, one after the other, tries; empty: its rule does not apply to the routine.
  virtual std::vector<std::int64_t> tiles(const Question&, const TileScheduler&, Grid) const { return {}; }
  /// The best of the plans that the library tries; none if it tries one.
  virtual std::optional<Plan> timed_plan(const Question&, const Judge&) const { return std::nullopt; }
  /// The plan on the devices that the library selects by that metric; none if it has no rule.
  virtual std::optional<Plan> selected_plan(const Question&, const Metric&) const { return std::nullopt; }
  /// Of grid=emulated.
  virtual Grid grid(int gpus) const { return {1, gpus, 1}; }
  /// Of routing=emulated: the peer that a tile is fetched from; none: its home.
  virtual std::optional<std::size_t> source(std::span<const Peer>) const { return std::nullopt; }

  /// Whether GPUs ask for tasks while model time goes by, knowing only what has happened.
  virtual bool is_in_model_time() const { return false; }
  /// Whether any GPU may compute any tile of C.
  virtual bool has_one_queue() const { return false; }
  virtual TasksAtOnce limits() const { return {}; }
  /// Who hands out tasks in model time; none: the owners of tiles. `most`: tiles of C that a GPU has room for.
  virtual std::shared_ptr<Chooser> chooser(const GemmTasks&, const Tiling&, Fetcher&, std::size_t /*most*/) const {
    return nullptr;
  }

  /// Whether GPUs hold from the start what an earlier call has left there.
  virtual bool is_warm() const { return false; }
  /// Of the run-time system on so many GPUs.
  virtual RuntimeCosts costs(std::size_t) const { return {}; }
};

/// That of the choices, or one that emulates nothing.
const Emulation& emulation_of(const Choices& choices);

}  // namespace tilerail
