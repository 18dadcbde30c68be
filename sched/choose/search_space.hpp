#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// What a search that is judged goes through, besides ways (sched/choose/ways.hpp). docs/model.md#judge

/// All devices first, and fewer where the policy leaves that open. `start` is the plan that the search begins with.
DeviceSets sets_for(const Question& question, const Plan& start);

/// Ascending: what is worth trying on any of the sets.
std::vector<std::int64_t> tiles_for(const Question& question, const DeviceSets& sets, const Plan& start);

/// About what plans on all devices have, by tile: a kernel for each sub-problem; a copy of each tile of A and B, or of
/// the pieces in which chains carry it, for each device that needs it; and two for each tile of C.
/// Of tiles with these rows and this depth.
std::vector<std::int64_t> ops_for(const Question& question, const std::vector<std::int64_t>& tiles,
                                  TileRows tile_rows = TileRows::side, TileDepth tile_depth = TileDepth::side);

/// Whether plans whose tiles are no squares are tried, too, where all tiles fit in memory.
bool may_shape(const Question& question);

/// How many of the operations that may be judged are kept for the ways of presets and to balance the work of GPUs.
std::int64_t ops_for_the_end(const Question& question, const Plan& start);

}  // namespace tilerail
