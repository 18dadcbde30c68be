#pragma once

#include <string>

#include "backends/ranks/rank_transport.hpp"
#include "plan/part.hpp"

namespace tilerail {

/// Compares this rank's part with the parts of the other ranks, before a run: all belong
/// to one plan, and other ranks send the messages that this rank expects, in the same
/// order. Returns the hash of the distributed plan. Throws InputError with the rank and
/// the first message that differs.
std::string agree(const PlanPart& part, RankTransport& transport);

/// Waits until all ranks have ended their parts, so that all succeed or all fail.
void end_together(const OwnRank& own, RankTransport& transport);

}  // namespace tilerail
