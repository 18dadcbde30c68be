#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/policy/grid.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// `count` things to holders in proportion to their weights, by largest remainders; of
/// equal ones, the lowest holder. Weights are at least 0, their sum above 0.
std::vector<int64_t> apportioned(int64_t count, std::span<const double> weights);

/// The holders of `count` things dealt one after another, each to the one whose (things +
/// 1) / weight is least then; of equal ones, the lowest. Equal weights: 0, 1, 2 ... 0, 1
/// ...
std::vector<size_t> dealt(int64_t count, std::span<const double> weights);

/// Which device computes each of rows x cols tiles of C, row by row. `shares` has one
/// weight a device of the grid, above 0 for at least one.
///   blocks       grid columns get contiguous tile columns, the devices of each
///   contiguous tile rows of those sequential   contiguous tiles, row by row round-robin
///   tiles in turn, row by row 1d-cyclic    whole tile columns in turn 2d-cyclic    tile
///   columns in turn to grid columns, and in each its tile rows in turn to its devices
///   even-blocks  equal blocks of as many whole tile rows and columns as there can be,
///   the rest in turn; no device
///                takes more than its part of all tiles by `apportioned`: the next one
///                with room takes what is over
/// Blocks and 2-D cyclic tiles are dealt to rows and columns; unless all shares are
/// equal, tiles then change hands until none would make the most loaded device less
/// loaded. Source: thesis 3.2.5; columns before rows: Beaumont et al., IEEE TPDS 12 (10),
/// 2001, 1033-1051.
std::vector<size_t> tile_owners(Distribution distribution, int64_t rows, int64_t cols,
                                Grid grid, std::span<const double> shares);

}  // namespace tilerail
