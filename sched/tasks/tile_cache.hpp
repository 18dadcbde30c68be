#pragma once

#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sched/route/broadcast.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Where copies of the read-only tiles of A and B are, and how they get where they are needed (thesis 4.2.3 to 4.2.5).
class TileCache {
 public:
  /// One tile: a region of a matrix, and the devices that will use it.
  struct Tile {
    View home;
    MemoryId home_memory;
    std::vector<std::size_t> users;
  };
  using TileIndex = std::size_t;

  TileCache(PlanContext& context, std::vector<Tile> tiles);

  struct Input {
    View view;
    std::optional<OpId> arrival;
    double eta = 0;
  };

  /// Makes the tile available on a device, fetching it as the policy says.
  Input fetch(TileIndex tile, std::size_t device);
  /// When the tile would be there if fetched now.
  double eta(TileIndex tile, std::size_t device) const;
  bool present(TileIndex tile, std::size_t device) const;
  /// Says which operation reads the device's copy.
  void used(TileIndex tile, std::size_t device, OpId reader);

  /// For plan-time eviction: position of the tile's next use in the device's order, `never` when there is none.
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  void set_next_use(TileIndex tile, std::size_t device, std::int64_t position);
  /// Gives back the memory of the copy that is needed last on a device (Belady's rule; ties: used longest ago).
  void evict_one(std::size_t device);
  /// While pinned, a copy is not evicted.
  void pin(TileIndex tile, std::size_t device, bool pinned);

 private:
  struct Copy {
    bool present = false, pinned = false;
    Arena::Slot slot;
    OpId first_piece, last_piece;  // the copies that bring it
    LinkClock::Arrival available;
    LastUses readers;
    std::int64_t next_use = never, last_touch = 0;
  };
  using Victim = std::tuple<std::int64_t, std::int64_t, TileIndex>;  // (-next use, last touch, tile)

  Copy& copy(TileIndex tile, std::size_t device) { return copies_[tile * devices_ + device]; }
  const Copy& copy(TileIndex tile, std::size_t device) const { return copies_[tile * devices_ + device]; }
  bool in_place(TileIndex tile, std::size_t device) const {
    return tiles_[tile].home_memory == context_.devices[device];
  }
  View view_on(TileIndex tile, std::size_t device) const;
  double size(TileIndex tile) const { return context_.bytes(tiles_[tile].home.rows, tiles_[tile].home.cols); }
  int chunks_of(TileIndex tile) const;
  template <class Function>
  void each_holder(TileIndex tile, Function&& f) const;
  double source_cost(TileIndex tile, const Holder& holder, MemoryId dst) const;
  Holder best_source(TileIndex tile, std::size_t device) const;
  void fetch_alone(TileIndex tile, std::size_t device);
  void fetch_chain(TileIndex tile, std::size_t device);
  void send(TileIndex tile, const Holder& from, std::size_t to, int pieces, LinkClock::Arrival arrival,
            std::size_t on_behalf);
  std::optional<std::size_t> device_index(MemoryId memory) const;
  Victim victim_key(TileIndex tile, std::size_t device) const;
  void drop(TileIndex tile, std::size_t device);

  PlanContext& context_;
  std::vector<Tile> tiles_;
  std::size_t devices_;
  std::vector<Copy> copies_;
  std::vector<std::set<Victim>> victims_;  // by device; pooled arenas only
  std::int64_t touches_ = 0;
};

}  // namespace tilerail
