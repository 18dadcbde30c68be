#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cost/clock.hpp"
#include "sched/tasks/directory.hpp"

namespace tilerail {

struct Chain {
  MemoryId source;
  std::vector<MemoryId> hops;  // destinations in order: source -> hops[0] -> hops[1] ...
  std::vector<Clock::Arrival> arrivals;  // one per hop
};

/// The best order of a chain's destinations, by in turn: the last arrival, the last
/// arrival by pairs alone, the pressure, the sum of arrivals, the lowest ids. Source:
/// thesis 4.2.5.1, which tries all h! orders. So does this search up to `exhaustive_hops`
/// destinations; above, a beam search keeps the `beam_width` best partial chains, h^2
/// steps each (docs/model.md#broadcast). Absent if no order reaches every destination, as
/// without peer access. The clock is unchanged afterwards.
inline constexpr size_t exhaustive_hops = 5;
inline constexpr size_t beam_width = 16;
std::optional<Chain> find_chain(Clock& clock, std::span<const Holder> holders,
                                std::span<const MemoryId> destinations, Bytes bytes,
                                int chunks);

}  // namespace tilerail
