#pragma once

#include "model/machine/topology.hpp"
#include "sched/choose/selection.hpp"

namespace tilerail::study {

/// The fluid machine as judge of plans, whose times are the simulator's. Keeps a
/// reference to `topology`.
Judge judge_of(const Topology& topology);

}  // namespace tilerail::study
