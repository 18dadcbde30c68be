#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/machine/rank.hpp"
#include "plan/builder.hpp"
#include "sched/tasks/arena.hpp"
#include "sched/transport/pieces.hpp"

namespace tilerail {

/// A tile in one memory. Its readers depend on `written`, its writers on `uses`. A tile
/// of another rank has neither, and no buffer.
struct LocalTile {
  Buffer block = {};  // the part of a tensor that it holds, and its memory
  View view = {};
  Scalar scale = Scalar::zero;  // the tile is this times the contents of its memory
  std::optional<Pieces> written = {};  // absent: from the start, or not yet
  LastUses uses = {};      // the reads since the last write, or the write if there are
                           // none; before the first write: the last uses of its memory
  Arena* arena = nullptr;  // of its memory; null: the tile is in a user's matrix
  Arena::Slot slot = {};

  MemoryId memory() const { return block.memory; }
  /// Also if it has no elements.
  bool is_zero() const { return scale == Scalar::zero; }
};

using Tiles = std::map<MemoryId, LocalTile>;

/// How the members of a broadcast or a reduction are connected; node 0 is the root.
///   chain: node v - 1 sends to v
///   ring:  the same up to v = n / 2; node v + 1 mod n sends to the other v
///   tree:  node (v - 1) / 2, rounded down, sends to v
enum class Pattern : uint8_t { chain, ring, tree };

struct Hop {
  size_t from, to;
};

/// The hops from node 0 to all of `nodes`, each after the hop to its sender.
std::vector<Hop> hops(Pattern pattern, size_t nodes);

/// Prescribed transport: a layout and a step say who sends which tile to whom, without
/// clocks. Tiles that are zero are not copied. Only operations of `own` are planned:
/// copies between ranks become its sends and receives.
/// docs/model.md#prescribed-transport
struct Transport {
  struct Options {
    Pattern pattern = Pattern::chain;
    int pieces = 1;  // of a copy, at most the tile's columns: pieces let hops overlap
  };

  PlanBuilder& builder;
  Options options = {};
  OwnRank own = {};
  std::map<MemoryId, Arena> arenas = {};  // of tiles that arrive, on demand

  /// A tile in a user's matrix: this times its contents.
  LocalTile tile_of(const View& view, Scalar scale = Scalar::one) const {
    return {builder.block(view), view, scale};
  }

  /// An unwritten tile of this block on a GPU: zero, whatever its memory contains.
  LocalTile room_for(Buffer block, MemoryId gpu);

  /// The tile on GPU `to`: piece j is sent as soon as it is in the tile's memory.
  LocalTile send(LocalTile& tile, MemoryId to);

  /// Frees the memory of the tile for the next tile of its arena, after its last uses.
  static void drop(LocalTile& tile);
  static void drop(Tiles& tiles);

  /// Send and drop: the memory of the source is free after the copy.
  LocalTile send_and_drop(LocalTile& tile, MemoryId to);

  /// Each member of a ring of n >= 2 GPUs sends its tile to the next:
  ///   next[ring[r + 1 mod n]] = tiles[ring[r]]
  /// If the old tiles are dropped after all shifts of a step, the copies run under
  /// kernels that read the old tiles.
  void shift(Tiles& tiles, std::span<const MemoryId> ring, Tiles& next);

  /// tiles[member] = root for each of n members. If member s has the root, it keeps it
  /// and is node 0 of the pattern: node v is member s + v mod n. Otherwise node v is
  /// member v - 1.
  void broadcast(LocalTile root, std::span<const MemoryId> members, Tiles& tiles);

  /// The sum of the members' tiles on the first member, which is node 0:
  ///   sums[members[0]] += sum over v > 0 of sums[members[v]]
  /// For each hop of the pattern, the last first, its receiver sends its sum back and
  /// drops it, and its sender adds it (axpby).
  void reduce(Tiles& sums, std::span<const MemoryId> members);

  /// y = op(inputs, y) on the GPU of y, or from the input's memory to there, in pieces:
  /// at most as many as y has columns.
  void run(Op op, std::initializer_list<LocalTile*> inputs, LocalTile& y, int pieces = 1);

 private:
  /// Piece j as an operand; of another rank's tile, in a buffer of its own.
  View operand(const LocalTile& tile, int j, int pieces);
};

}  // namespace tilerail
