#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
#include <cstdint>

#include "model/base/ids.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Number of a tile in a TileDirectory.
using TileId = Id<struct TileTag>;
inline constexpr TileId no_tile{int32_t{-1}};

/// Stored rows of a tile that a task reads; count 0: all rows.
struct TileRowsRead {
  int64_t first = 0, count = 0;
};

/// A tile that a task writes, and whether no later task writes it.
struct WrittenTile {
  TileId tile;
  bool last = false;
};

/// One kernel on tiles: y = f(a, b, y), without device, time, or copies of the tiles.
struct Task {
  Op op{.kind = OpKind::gemm, .beta = Scalar::one};  // without queue and operands
  std::array<TileId, 2> reads{no_tile, no_tile};     // a, b
  std::array<TileRowsRead, 2> rows_read{};           // of each read tile
  TileId writes;                                     // y
  bool first = false, last = false;  // among the tasks that write this tile
  /// Written operands before y, in the order of the kind.
  boost::container::static_vector<WrittenTile, 2> also_writes = {};
};

}  // namespace tilerail
