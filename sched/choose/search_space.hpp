#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// What a search that is judged goes through, besides ways (sched/choose/ways.hpp). docs/model.md#judge

/// All devices first, and fewer where the policy leaves that open.
DeviceSets sets_for(const Question& question);

/// Ascending: what is worth trying on the devices. `start` is the plan that the search begins with.
std::vector<std::int64_t> tiles_for(const Question& question, const Plan& start);

/// About what plans on all devices have, by tile: a kernel for each sub-problem; a copy of each tile of A and B, or of
/// the pieces in which chains carry it, for each device that needs it; and two for each tile of C of each layer.
/// Of tiles with these rows and this depth, and of so many parts of k as the wish k-split=`k_split` comes to.
std::vector<std::int64_t> ops_for(const Question& question, const std::vector<std::int64_t>& tiles,
                                  TileRows tile_rows = TileRows::side, TileDepth tile_depth = TileDepth::side,
                                  int k_split = 1);

/// Whether the policy leaves open if copies between GPUs are staged, and a copy between two of the GPUs, or one of them
/// and the GPU that is the home of a matrix, may be faster over a host. Among very many GPUs none is looked for: their
/// pairs are too many.
bool staging_may_help(const Question& question);

/// Whether plans whose tiles are no squares are tried, too, where all tiles fit in memory.
bool may_shape(const Question& question);

/// How many of the operations that may be judged are kept for the ways of presets and to balance the work of GPUs.
std::int64_t ops_for_the_end(const Question& question, const Plan& start);

}  // namespace tilerail
