#pragma once

#include "model/topology.hpp"
#include "sched/selection.hpp"

namespace tilerail::cli {

/// The simulator as judge of plans for this machine; in a build without it, the estimate. Keeps a reference to
/// `topology`.
Judge judge_of(const Topology& topology);

}  // namespace tilerail::cli
