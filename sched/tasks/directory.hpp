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

/// Where a tile is or will be, and when its first and last pieces are there.
struct Holder {
  MemoryId memory;
  Clock::Arrival available;
  bool is_home = false;  // or a copy that a device has
};

/// Knows every copy of every tile: where it is, whether it is up to date, in flight until
/// when, and who still reads it (thesis 4.2.3, where tiles are never written). Devices
/// are counted as in the PlanContext.
class TileDirectory {
 public:
  /// One tile: a region of a matrix, and the devices that will use it, ascending.
  struct Tile {
    View home;  // given as a view of the whole matrix, kept as one of the block that it
                // is in
    MemoryId home_memory;  // that of its buffer
    std::vector<size_t> users;
  };

  /// Whether tasks write tiles that other tasks read.
  enum class Writes : bool { none, some };

  TileDirectory(PlanContext& context, std::vector<Tile> tiles,
                Writes writes = Writes::none);

  static constexpr int64_t never = std::numeric_limits<int64_t>::max();

  /// What a device has of a tile that it does not use in place. Stale: another device has
  /// written the tile since.
  struct Copy {
    bool valid = false, pinned = false;
    bool has_slot = false;  // also a stale copy keeps its memory, where memory is ample
    Arena::Slot slot;
    OpId first_piece = nobody,
         last_piece = nobody;  // the operations that brought or wrote it
    Clock::Arrival available;
    LastUses readers;
    int64_t next_use = never, last_touch = 0;
  };

  const Tile& tile(TileId id) const { return tiles_[id.index()]; }
  Bytes bytes(TileId id) const { return context_.bytes(tile(id).home); }
  /// Whether the device uses the tile where it is at home, or in its copy of a matrix
  /// that each GPU has one of.
  bool in_place(TileId id, size_t device) const {
    if (copies_at_home(id)) return true;
    return context_.decisions.choices.in_place &&
           tile(id).home_memory == context_.devices[device] && home_is_valid(id);
  }
  Clock::Arrival home_available(TileId id) const;
  static constexpr Seconds nowhere{-1};       // before any time
  static constexpr OpId nobody{int32_t{-1}};  // brought what was there from the start
  /// What a device has of the newest version. Choosers ask this most of all: optionals
  /// would double its bytes.
  struct Here {
    Seconds at = nowhere;          // when it is or was there
    BufferId buffer{int32_t{-1}};  // of the matrix where it is used in place
    OpId arrival = nobody;         // what brought it
  };
  Here here(TileId id, size_t device) const {
    return here_.empty() ? looked_up(id, device) : here_[place_of(id, device)];
  }
  Seconds there(TileId id, size_t device) const {
    return here_.empty() ? looked_up(id, device).at : here_[place_of(id, device)].at;
  }
  bool present(TileId id, size_t device) const { return there(id, device) > nowhere; }
  /// The device's copy, or where it would be; the device must be a user.
  Copy& copy(TileId id, size_t device) {
    return copies_[id.index()][slot_of(id, device)];
  }
  const Copy& copy(TileId id, size_t device) const {
    return copies_[id.index()][slot_of(id, device)];
  }
  View view_on(TileId id, size_t device) const;
  /// What brought what the device has; nothing where that was there from the start.
  std::optional<OpId> arrival(TileId id, size_t device) const;
  std::optional<size_t> device_at(MemoryId memory) const;
  void add_user(TileId id, size_t device);

  /// Every memory that a copy of the newest version may start from: the home, then
  /// devices, ascending.
  template <class Function>
  void each_holder(TileId id, Function&& f) const {
    if (home_is_valid(id)) f(Holder{tile(id).home_memory, home_available(id), true});
    for (size_t u = 0; u < tile(id).users.size(); ++u)
      if (const Copy& c = copies_[id.index()][u]; c.valid)
        f(Holder{context_.devices[tile(id).users[u]], c.available});
  }

  /// The device's copy came, or will, by these operations.
  void arrived(TileId id, size_t device, OpId first_piece, OpId last_piece,
               const Clock::Arrival& at);
  /// Says which operation reads what the device has.
  void used(TileId id, size_t device, OpId reader);
  /// The home is read by an operation that fetches from it.
  void used_at_home(TileId id, OpId reader);
  /// A kernel made a new version of what the device has; all other copies are stale from
  /// now on.
  void written(TileId id, size_t device, OpId kernel, Seconds end);
  /// The newest version was copied home.
  void came_home(TileId id, OpId copy, Seconds end);
  /// A tile that a device has.
  struct WarmTile {
    TileId tile;
    size_t device;
  };
  /// What devices have fetched and still have.
  std::vector<WarmTile> warm_tiles() const;
  /// Devices have these from the start.
  void warm_up(std::span<const WarmTile> tiles);

  /// What a new version on a device has to wait for: whoever reads or wrote the memory
  /// that it goes to.
  void wait_to_write(TileId id, size_t device, Deps& deps) const;
  void wait_to_write_home(TileId id, Deps& deps) const;
  std::optional<OpId> last_written_at_home(TileId id) const;
  bool home_is_valid(TileId id) const {
    return homes_.empty() || !homes_[id.index()].stale;
  }

  /// For plan-time eviction: position of the tile's next use in the device's order,
  /// `never` when there is none.
  void set_next_use(TileId id, size_t device, int64_t position);
  /// Gives back the memory of the copy that is needed last on a device (Belady's rule;
  /// ties: used longest ago).
  void evict_one(size_t device);
  /// While pinned, a copy is not evicted.
  void pin(TileId id, size_t device, bool pinned);

 private:
  using Victim = std::tuple<int64_t, int64_t, TileId>;  // (-next use, last touch, tile)
  struct Home {
    bool stale = false;
    std::optional<OpId> writer;
    Seconds available{0};
    LastUses readers;
  };

  /// Of a matrix that each GPU has a copy of: the buffers, by device.
  /// docs/model.md#kept-copies
  struct Copied {
    BufferId home;  // in views of its tiles
    std::vector<BufferId> of_device;
  };
  void find_copies(BufferId home);
  const Copied* copies_at_home(TileId id) const {
    for (const Copied& copied : copied_)
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
  Here looked_up(TileId id, size_t device) const;
  /// A chooser asks for the tiles of a row or column after each other: they are
  /// neighbours.
  size_t place_of(TileId id, size_t device) const { return device * count_ + id.index(); }
  void note(TileId id, size_t device);
  void note_home(TileId id);
  void drop(TileId id, size_t device);
  void make_stale(TileId id, size_t device);

  PlanContext& context_;
  std::vector<Tile> tiles_;
  size_t count_;                           // of tiles
  std::vector<Copied> copied_;             // of A, of B, or of both
  std::vector<std::vector<Copy>> copies_;  // by tile, one a user
  std::vector<Home> homes_;                // by tile; empty where no tile is written
  std::vector<Here> here_;  // by device and tile; empty where that is too much
  std::vector<std::set<Victim>> victims_;  // by device; pooled arenas only
  int64_t touches_ = 0;
};

}  // namespace tilerail
