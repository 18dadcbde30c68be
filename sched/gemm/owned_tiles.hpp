#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "sched/tasks/directory.hpp"
#include "sched/tasks/outputs.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Buffers per device for tiles needed by one operation only, C_in of an addition or
/// forwarded tiles: the next tile is fetched meanwhile.
inline int passing_buffers(const Decisions& decisions) {
  return std::max(2, decisions.choices.compute_streams);
}

/// Tiles of C, each computed by one device (thesis 4.2.6):
///   in place  C lives on the device: C = alpha A B + beta C in place.
///   eager     C_in is fetched before the first kernel, which scales it by beta.
///   lazy      C' = alpha A B without C_in; then C_in is fetched and C' += beta C_in.
///   rounded   S = alpha A B in f32 without C_in; then C_in is fetched unless C lives on
///             the device, and C = S + beta C: halves with several kernels.
/// A tile with another home is written back after its last kernel; with
/// write-backs=with-next, if all tiles fit, only when the device begins another tile,
/// whose kernels wait for the write-back. With beta = 0, C_in
/// is never read. If several devices compute a part of a tile each, the parts are fetched
/// and added to the total once all are complete, by the device that has the total; only
/// the total applies C_in and beta.
class OwnedTiles final : public Outputs {
 public:
  struct Shape {
    int64_t rows = 0, cols = 0;
  };
  struct Options {
    bool lazy = false;
    Scalar beta = Scalar::zero;
    Shape largest;                        // upper limit of every tile of C
    bool rounded = false;                 // from sum_type at the end, also if lazy
    std::function<View(TileId)> home_of;  // region of a tile in the whole of C
    std::function<TileId(TileId)> total_of =
        {};  // the total of a part, which may be the tile itself; empty: no parts
    size_t parts = 1;  // per total
  };

  /// `inputs` frees memory on a device whose memory is full.
  OwnedTiles(PlanContext& context, TileDirectory& inputs, Options options);

  /// The kernels of a tile run in sequence in one queue; tiles take the queues of their
  /// device in turn.
  Place open(const Task& task, size_t device, Deps& deps) override;
  void written(const Task& task, size_t device, OpId kernel, Seconds end) override;
  void end() override;

  /// When the initial value of a tile of C would arrive by the clock if a device began
  /// the tile now; absent if nothing must be copied.
  std::optional<Seconds> arrival(TileId tile, size_t device) const;

 private:
  /// A tile of C between its first and its last kernel.
  struct ActiveTile {
    View home, work;
    bool in_place = false, is_part = false;
    Scalar beta = Scalar::zero;  // of the first kernel
    std::optional<OpId> loaded;  // the fetch of C_in into `work`
    Seconds eta{0};              // when C is ready for the first kernel
    Arena::Slot slot;
    QueueId queue;
  };

  /// A tile after its last kernel.
  struct CompleteTile {
    ActiveTile tile;
    size_t device = 0;
    OpId last;         // operation that wrote the tile
    Seconds ready{0};  // end of `last` by the clock
  };

  bool is_part(TileId tile) const {
    return options_.total_of && options_.total_of(tile) != tile;
  }
  bool in_place(size_t device, const View& home, bool is_part) const {
    return !is_part && context_.decisions.choices.in_place &&
           context_.memory(home) == context_.devices[device];
  }
  /// The factor of C in the first kernel.
  Scalar first_beta(bool in_place, bool is_part) const {
    return !is_part && !options_.rounded && (in_place || !options_.lazy) ? options_.beta
                                                                         : Scalar::zero;
  }
  ActiveTile begin(const View& region, size_t device, bool is_part);
  /// Memory for the tile on the device, with C_in unless its beta is zero.
  void take_work(ActiveTile& tile, size_t device, bool is_sum);
  void round(CompleteTile& total);
  void finish(CompleteTile& total);
  /// Copies a complete total home after `deps`. Returns the arrival.
  Seconds send_home(CompleteTile& total, Deps deps, OpId& copy);
  void add_parts(std::vector<CompleteTile>& all);
  OpId add(CompleteTile& total, const View& from, Scalar factor, Deps arrived,
           Seconds ready);
  /// C' = alpha x + beta C', after `deps`.
  void axpby(CompleteTile& total, Scalar alpha, const View& x, Scalar beta, Deps deps,
             Seconds ready);
  void give_back(const CompleteTile& tile, OpId copied);
  Arena::Slot take(size_t device, const Buffer& block, int64_t least = 0);
  /// Memory for a tile of the same shape and type.
  Arena::Slot take_passing(size_t device, const View& tile);
  void give_back_passing(size_t device, const Arena::Slot& slot, OpId last);
  Seconds copy_c(size_t device, const View& from, const View& to, const Deps& deps,
                 Seconds ready, OpId& id, int queue = 0);

  PlanContext& context_;
  TileDirectory& inputs_;
  Options options_;
  struct Device {
    std::map<TileId, ActiveTile> open;
    int started = 0;
    std::deque<std::pair<Arena::Slot, LastUses>> passing;  // ample arenas
    std::deque<CompleteTile> kept;  // written back with the next tiles
  };
  std::vector<Device> devices_;
  std::map<TileId, std::vector<CompleteTile>>
      complete_;  // complete parts of totals with incomplete parts
};

}  // namespace tilerail
