#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cost/clock.hpp"
#include "sched/tasks/directory.hpp"

namespace tilerail {

struct Chain {
  MemoryId source;
  std::vector<MemoryId> hops;            // destinations in order: source -> hops[0] -> hops[1] ...
  std::vector<Clock::Arrival> arrivals;  // one a hop
};

/// The order in which a batched fetch visits its destinations: the one whose last arrival is earliest by the link
/// clock, then by pairs alone, then the one over the least loaded links, then the least sum of arrivals, then the
/// lowest ids. Source: thesis 4.2.5.1, which tries all h! orders. Up to `exhaustive_hops` destinations so do we; above,
/// a beam search keeps the `beam_width` best partial chains, h^2 steps each. docs/model.md#broadcast compares the two.
/// Hops without a route are never taken; nothing where no order reaches every destination, as without peer access. The
/// clock is left as it was found.
inline constexpr std::size_t exhaustive_hops = 5;
inline constexpr std::size_t beam_width = 16;
std::optional<Chain> find_chain(Clock& clock, std::span<const Holder> holders, std::span<const MemoryId> destinations,
                                Bytes bytes, int chunks);

}  // namespace tilerail
