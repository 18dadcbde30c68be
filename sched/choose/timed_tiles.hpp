#pragma once

#include <cstdint>
#include <vector>

#include "sched/choose/judge.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The tiles that the policy's library would take or, one after the other, try, none larger than memory allows; none
/// where tile-choice names no library, or its rule says nothing of the routine. docs/model.md#tile
std::vector<std::int64_t> library_tiles(const Question& question, const TileScheduler& scheduler, Grid grid);

/// Whether the library tries several tiles, which is for devices that are given and ways that are fixed.
bool times_tiles(const Question& question);

/// As a library that times several tiles over its first calls, or a user who does, and keeps the fastest: by the judge,
/// where the question is judged and all plans together have no more operations than its policy lets it judge, else by
/// the estimate.
Plan timed_plan(const Question& question, const Judge& judge);

}  // namespace tilerail
