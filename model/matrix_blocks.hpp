#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// `parts` + 1 numbers from 0 to `extent`: the multiples of an alignment unit that are
/// nearest to the borders of equal parts, so that each part has at most one unit more or
/// less than an equal one. The unit is 64 where equal parts have at least eight of them,
/// 1 otherwise.
std::vector<int64_t> even_borders(int64_t extent, int parts);

/// Rows [row, row + rows) and columns [col, col + cols) of a stored matrix, in one
/// memory.
struct MatrixBlock {
  MemoryId memory;
  int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// A matrix of rows x cols whose place is `place`: blocks of its columns, or of its rows,
/// in the hosts of a memory that stands for such, without those that are empty; else the
/// whole in one. docs/model.md#homes-on-several-hosts
std::vector<MatrixBlock> matrix_blocks(int64_t rows, int64_t cols, MemoryId place,
                                       const Topology& topology);

/// The memories that tiles of such a matrix come from. `place` must outlive what it
/// returns.
std::span<const MemoryId> homes_of(const MemoryId& place, const Topology& topology);

}  // namespace tilerail
