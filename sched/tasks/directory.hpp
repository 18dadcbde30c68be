#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "sched/tasks/plan_context.hpp"
#include "sched/tasks/task.hpp"

namespace tilerail {

/// A present or future location of a tile, and when its first and last pieces are there.
struct Holder {
  MemoryId memory;
  Clock::Arrival available;
  bool is_home = false;  // otherwise a device's copy
};

/// Directory of all copies of all tiles: locations, validity, arrivals in flight, and
/// readers (thesis 4.2.3, where tiles are never written). Devices are numbered as in the
/// PlanContext.
class TileDirectory {
 public:
  /// A tile: a region of a matrix, and the devices that use it, ascending.
  struct Tile {
    View home;  // passed in as a view of the whole matrix, stored as a view of its block
    std::vector<size_t> users;
    MemoryId home_memory = {};  // memory of the block's buffer
  };

  /// Whether tasks write tiles that other tasks read.
  enum class Writes : bool { none, some };

  TileDirectory(PlanContext& context, std::vector<Tile> tiles,
                Writes writes = Writes::none);

  static constexpr int64_t never = std::numeric_limits<int64_t>::max();

  /// A device's copy of a tile that it does not use in place. A copy is stale if another
  /// device has since written the tile.
  struct Copy {
    bool valid = false, pinned = false;
    bool has_slot = false;  // stale copies keep their memory, if it is ample
    Arena::Slot slot;
    OpId first_piece = nobody,
         last_piece = nobody;  // operations that brought or wrote the copy
    Clock::Arrival available;
    LastUses readers;
    int64_t next_use = never, last_touch = 0;
  };

  const Tile& tile(TileId id) const { return tiles_[id.index()]; }
  Bytes bytes(TileId id) const { return context_.bytes(tile(id).home); }
  /// Whether the device uses the tile at its home, or in its replica of the matrix.
  bool in_place(TileId id, size_t device) const {
    if (replicas_of(id)) return true;
    return context_.decisions.choices.in_place &&
           tile(id).home_memory == context_.devices[device] && home_is_valid(id);
  }
  Clock::Arrival home_available(TileId id) const;
  static constexpr Seconds nowhere{-1};       // before any time
  static constexpr OpId nobody{int32_t{-1}};  // arrival of initial tiles
  /// A device's copy of the newest version. The most frequent query of choosers:
  /// optionals would double its size.
  struct NewestCopy {
    Seconds at = nowhere;          // when it is or was available
    BufferId buffer{int32_t{-1}};  // of the matrix if used in place
    OpId arrival = nobody;         // operation that brought it
  };
  NewestCopy here(TileId id, size_t device) const {
    return here_.empty() ? looked_up(id, device) : here_[place_of(id, device)];
  }
  Seconds there(TileId id, size_t device) const {
    return here_.empty() ? looked_up(id, device).at : here_[place_of(id, device)].at;
  }
  bool present(TileId id, size_t device) const { return there(id, device) > nowhere; }
  /// The device's copy, valid or not; the device must be a user.
  Copy& copy(TileId id, size_t device) {
    return copies_[id.index()][slot_of(id, device)];
  }
  const Copy& copy(TileId id, size_t device) const {
    return copies_[id.index()][slot_of(id, device)];
  }
  View view_on(TileId id, size_t device) const;
  /// The operation that brought the device's copy; absent if it was there from the start.
  std::optional<OpId> arrival(TileId id, size_t device) const;
  std::optional<size_t> device_at(MemoryId memory) const;
  void add_user(TileId id, size_t device);

  /// Calls `f` for every memory from which the newest version can be copied: the home,
  /// then devices, ascending.
  template <class Function>
  void each_holder(TileId id, Function&& f) const {
    if (home_is_valid(id)) f(Holder{tile(id).home_memory, home_available(id), true});
    for (size_t u = 0; u < tile(id).users.size(); ++u)
      if (const Copy& c = copies_[id.index()][u]; c.valid)
        f(Holder{context_.devices[tile(id).users[u]], c.available});
  }

  /// Records the operations that bring the device's copy, and its arrival.
  void arrived(TileId id, size_t device, OpId first_piece, OpId last_piece,
               const Clock::Arrival& at);
  /// Records an operation that reads the device's copy.
  void used(TileId id, size_t device, OpId reader);
  /// Records an operation that fetches from the home.
  void used_at_home(TileId id, OpId reader);
  /// Records a kernel that writes a new version on a device; all other copies become
  /// stale.
  void written(TileId id, size_t device, OpId kernel, Seconds end);
  /// Records the copy of the newest version to the home.
  void came_home(TileId id, OpId copy, Seconds end);
  /// A tile on a device.
  struct WarmTile {
    TileId tile;
    size_t device;
  };
  /// Fetched tiles that devices still hold.
  std::vector<WarmTile> warm_tiles() const;
  /// Tiles that devices hold from the start.
  void warm_up(std::span<const WarmTile> tiles);

  /// Adds the dependencies of a new version on a device: readers and writers of its
  /// memory.
  void wait_to_write(TileId id, size_t device, Deps& deps) const;
  void wait_to_write_home(TileId id, Deps& deps) const;
  std::optional<OpId> last_written_at_home(TileId id) const;
  bool home_is_valid(TileId id) const {
    return homes_.empty() || !homes_[id.index()].stale;
  }

  /// For plan-time eviction: position of the tile's next use in the device's order, or
  /// `never`.
  void set_next_use(TileId id, size_t device, int64_t position);
  /// Evicts the copy on a device whose next use is last (Belady's rule; ties: least
  /// recently used).
  void evict_one(size_t device);
  /// Whether a device has room for a tile that it uses later: memory for all tiles, or a
  /// slot that is free or has a tile with a later next use.
  bool has_room(TileId id, size_t device) const;
  /// Pinned copies are not evicted.
  void pin(TileId id, size_t device, bool pinned);

 private:
  using Victim = std::tuple<int64_t, int64_t, TileId>;  // (-next use, last touch, tile)
  struct Home {
    bool stale = false;
    std::optional<OpId> writer;
    Seconds available{0};
    LastUses readers;
  };

  /// A replicated matrix: its buffers by device. docs/model.md#kept-copies
  struct ReplicatedMatrix {
    BufferId home;  // buffer in the views of its tiles
    std::vector<BufferId> of_device;
  };
  void find_replicas(BufferId home);
  const ReplicatedMatrix* replicas_of(TileId id) const {
    for (const ReplicatedMatrix& copied : replicated_)
      if (copied.home == tile(id).home.buffer) return &copied;
    return nullptr;
  }

  size_t slot_of(TileId id, size_t device) const;
  const Copy* find(TileId id, size_t device) const;
  bool evictable(size_t device) const {
    return context_.arenas[device].pooled() && context_.decisions.choices.caching;
  }
  Victim victim_key(TileId id, const Copy& copy) const {
    return {-copy.next_use, copy.last_touch, id};
  }
  LastUses uses_of(const Copy& copy) const;
  NewestCopy looked_up(TileId id, size_t device) const;
  /// Choosers query the tiles of a row or column in sequence: these are adjacent.
  size_t place_of(TileId id, size_t device) const { return device * count_ + id.index(); }
  void note(TileId id, size_t device);
  void note_home(TileId id);
  void drop(TileId id, size_t device);
  void make_stale(TileId id, size_t device);

  PlanContext& context_;
  std::vector<Tile> tiles_;
  size_t count_;                              // of tiles
  std::vector<ReplicatedMatrix> replicated_;  // A, B, or both
  std::vector<std::vector<Copy>> copies_;     // by tile, one per user
  std::vector<Home> homes_;                   // by tile; empty if no tile is written
  std::vector<NewestCopy> here_;              // by device and tile; empty if too large
  std::vector<std::set<Victim>> victims_;     // by device; pooled arenas only
  int64_t touches_ = 0;
};

}  // namespace tilerail
