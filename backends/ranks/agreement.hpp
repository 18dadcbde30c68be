#pragma once

#include <string>

#include "backends/ranks/rank_transport.hpp"
#include "plan/part.hpp"

namespace tilerail {

/// Compares this rank's part with those of the other ranks, before a run: all of one
/// plan, and the messages to this rank are those that it expects, in their order. Returns
/// the hash of the distributed plan. Throws InputError with the rank and the first
/// message that differs.
std::string agree(const PlanPart& part, RankTransport& transport);

/// Waits until all ranks have ended their parts, so that all succeed or all fail.
void end_together(const OwnRank& own, RankTransport& transport);

}  // namespace tilerail
