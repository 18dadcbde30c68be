#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/policy/grid.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// Divides `count` things among holders in proportion to their weights, by largest
/// remainders; ties go to the lowest holder. Weights are at least 0, their sum above 0.
std::vector<int64_t> apportioned(int64_t count, std::span<const double> weights);

/// The holders of `count` items assigned in sequence, each to the holder with the least
/// (things + 1) / weight; ties go to the lowest. Equal weights: 0, 1, 2 ... 0, 1 ...
std::vector<size_t> assigned(int64_t count, std::span<const double> weights);

/// The owner of each of rows x cols tiles of C, row by row. `shares` has one weight per
/// device of the grid, at least one above 0.
///   blocks       grid columns get contiguous tile columns, the devices of each get
///                contiguous tile rows of them
///   sequential   contiguous tiles, row by row
///   round-robin  tiles in turn, row by row
///   1d-cyclic    whole tile columns in turn
///   2d-cyclic    tile columns in turn to grid columns, and in each its tile rows in
///                turn to its devices
///   even-blocks  equal blocks of as many whole tile rows and columns as possible, the
///                rest in turn; no device takes more than its part of all tiles by
///                `apportioned`: the next one with room takes the excess
/// Blocks and 2-D cyclic tiles are assigned to rows and columns; unless all shares are
/// equal, tiles are then moved until no move reduces the maximum load. Source: thesis
/// 3.2.5; columns before rows: Beaumont et al., IEEE TPDS 12 (10), 2001, 1033-1051.
std::vector<size_t> tile_owners(Distribution distribution, int64_t rows, int64_t cols,
                                Grid grid, std::span<const double> shares);

}  // namespace tilerail
