#pragma once

#include <cstddef>
#include <optional>

#include "model/machine/topology.hpp"

namespace tilerail::study {

/// Parts of a machine made `factor` times as good, where factor may be infinite. Figures stay in the ranges of
/// descriptions (model/base/topology_limits.hpp).

Seconds shorter(Seconds time, double factor);
void make_faster(Link& link, double factor);            // its rates, not its latency
void make_faster(CapacityGroup& group, double factor);  // factor is finite
void make_faster(IssueCost& cost, double factor);
/// Every kernel takes a factor less, launch included, up to the factor that brings the highest rate to the most that a
/// description has.
void make_faster(KernelTimes& kernels, double factor);

/// Of a role by number: h2d, d2h, peer, total. Nothing: no limit.
std::optional<int> engines_of(const Memory& memory, size_t role);
/// At least one remains.
void multiply_engines(Memory& memory, size_t role, double factor);

}  // namespace tilerail::study
