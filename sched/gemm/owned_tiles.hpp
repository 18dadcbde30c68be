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

/// Buffers of tiles that a device has only for the time of one operation, C_in of an
/// addition or what it passes on: the next is fetched meanwhile.
inline int passing_buffers(const Decisions& decisions) {
  return std::max(2, decisions.choices.compute_streams);
}

/// Tiles of C, each of which one device computes (thesis 4.2.6):
///   in place  C lives on the device: C = alpha A B + beta C where it is.
///   eager     C_in is fetched before the first kernel, which scales it by beta.
///   lazy      C' = alpha A B without C_in; then C_in is fetched and C' += beta C_in.
/// Either way a tile whose home is elsewhere is written back after its last kernel; with
/// write-backs=with-next, and where all tiles fit, only when the device begins another
/// one, whose kernels wait for that. With beta = 0, C_in is never read. Where several
/// devices compute a part of a tile each, the others' parts are fetched and added to the
/// total when all are complete, by the device that has the total; C_in and beta are its
/// business alone.
class OwnedTiles final : public Outputs {
 public:
  struct Shape {
    int64_t rows = 0, cols = 0;
  };
  struct Options {
    bool lazy = false;
    Scalar beta = Scalar::zero;
    Shape largest;                        // bounds every tile of C
    std::function<View(TileId)> home_of;  // where in the whole of C a tile is
    std::function<TileId(TileId)> total_of =
        {};            // that a tile is a part of, maybe itself; none: all are whole
    size_t parts = 1;  // of each total
  };

  /// `inputs` makes room on a device whose memory is full.
  OwnedTiles(PlanContext& context, TileDirectory& inputs, Options options);

  /// The kernels of a tile follow one another in one queue; tiles take the queues of
  /// their device in turn.
  Place open(const Task& task, size_t device, Deps& deps) override;
  void written(const Task& task, size_t device, OpId kernel, Seconds end) override;
  void end() override;

  /// When what a tile of C begins with would be there by the clock if it was begun on a
  /// device now; none where nothing has to come.
  std::optional<Seconds> arrival(TileId tile, size_t device) const;

 private:
  /// A tile of C between its first and its last kernel.
  struct Open {
    View home, work;
    bool in_place = false, is_part = false;
    Scalar beta = Scalar::zero;  // of the first kernel
    std::optional<OpId> loaded;  // eager: the fetch of C_in
    Seconds eta{0};              // when the first kernel may start, as far as C goes
    Arena::Slot slot;
    QueueId queue;
  };

  /// A tile after its last kernel.
  struct Ended {
    Open tile;
    size_t device = 0;
    OpId last;         // operation that wrote it
    Seconds ready{0};  // when that ends, by the clock
  };

  bool is_part(TileId tile) const {
    return options_.total_of && options_.total_of(tile) != tile;
  }
  bool in_place(size_t device, bool is_part) const {
    return !is_part && context_.decisions.choices.in_place &&
           context_.problem.place_c == context_.devices[device];
  }
  /// What the first kernel scales C by.
  Scalar first_beta(bool in_place, bool is_part) const {
    return !is_part && (in_place || !options_.lazy) ? options_.beta : Scalar::zero;
  }
  Open begin(const View& region, size_t device, bool is_part);
  void finish(Ended& total);
  /// Once it is complete and `deps` are done. Returns when it is there.
  Seconds send_home(Ended& total, Deps deps, OpId& copy);
  void add_parts(std::vector<Ended>& all);
  OpId add(Ended& total, const View& from, Scalar factor, Deps arrived, Seconds ready);
  void give_back(const Ended& tile, OpId copied);
  Arena::Slot take(size_t device, Shape shape, DType dtype);
  /// Memory for a tile of the shape and type of this one.
  Arena::Slot take_passing(size_t device, const View& tile);
  void give_back_passing(size_t device, const Arena::Slot& slot, OpId last);
  Seconds copy_c(size_t device, const View& from, const View& to, const Deps& deps,
                 Seconds ready, OpId& id, int queue = 0);

  PlanContext& context_;
  TileDirectory& inputs_;
  Options options_;
  struct Device {
    std::map<TileId, Open> open;
    int started = 0;
    std::deque<std::pair<Arena::Slot, LastUses>> passing;  // ample arenas
    std::deque<Ended> kept;  // that go home with the next ones
  };
  std::vector<Device> devices_;
  std::map<TileId, std::vector<Ended>>
      ended_;  // parts of a total that are complete, while others are not
};

}  // namespace tilerail
