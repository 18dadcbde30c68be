#pragma once

#include "plan/plan.hpp"

namespace tilerail {

/// The columns of piece j of a view cut in `pieces`. Of 10 columns in 4 pieces, piece 1
/// has columns 2 to 4.
inline View piece(const View& whole, int j, int pieces) {
  if (pieces == 1) return whole;
  const int64_t begin = whole.cols * j / pieces, end = whole.cols * (j + 1) / pieces;
  return {whole.buffer, whole.row, whole.col + begin, whole.rows, end - begin};
}

/// Consecutive operations that wrote a tile, piece by piece.
struct Pieces {
  OpId first, last;

  int count() const { return last.value - first.value + 1; }
  /// The operation after which piece j of `pieces` is complete.
  OpId of(int j, int pieces) const {
    return count() == pieces ? OpId{first.value + j} : last;
  }
};

}  // namespace tilerail
