#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// `parts` + 1 numbers from 0 to `extent`: the borders of equal parts, rounded to the
/// nearest multiples of an alignment unit. Parts differ from equal ones by at most one
/// unit. The unit is 64 if equal parts have at least eight units, else 1.
std::vector<int64_t> even_borders(int64_t extent, int parts);

/// Rows [row, row + rows) and columns [col, col + cols) of a stored matrix, in one
/// memory.
struct MatrixBlock {
  MemoryId memory;
  int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// The blocks of a rows x cols matrix in `place`: non-empty blocks of columns or rows on
/// several hosts, or a single block in one memory. docs/model.md#homes-on-several-hosts
std::vector<MatrixBlock> matrix_blocks(int64_t rows, int64_t cols, MemoryId place,
                                       const Topology& topology);

/// The memories that contain the tiles of a matrix in `place`. `place` must outlive the
/// result.
std::span<const MemoryId> homes_of(const MemoryId& place, const Topology& topology);

}  // namespace tilerail
