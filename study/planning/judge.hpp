#pragma once

#include "model/machine/topology.hpp"
#include "sched/choose/selection.hpp"

namespace tilerail::study {

/// The simulator as judge of plans for this machine; in a build without it, the estimate. Keeps a reference to
/// `topology`.
Judge judge_of(const Topology& topology);

}  // namespace tilerail::study
