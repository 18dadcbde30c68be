#pragma once

#include <array>
#include <cstdint>

#include "model/base/ids.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A tile of a TileDirectory.
using TileId = Id<struct TileTag>;
inline constexpr TileId no_tile{int32_t{-1}};

/// Rows of a tile as it is stored; all of them where there are none.
struct TileRowsRead {
  int64_t first = 0, count = 0;
};

/// One kernel on tiles: y = f(a, b, y). It says nothing of where, when or with which
/// copies of the tiles.
struct Task {
  OpKind kind = OpKind::gemm;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  Scalar alpha = Scalar::one, beta = Scalar::one;
  std::array<TileId, 2> reads{no_tile, no_tile};  // a, b
  std::array<TileRowsRead, 2> rows_read{};        // of these
  TileId writes;                                  // y
  bool first = false, last = false;               // of the tasks that write this tile
};

}  // namespace tilerail
