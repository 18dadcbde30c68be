#pragma once

#include "model/machine/topology.hpp"

namespace tilerail {

/// The machine with its first `count` GPUs by number: the others go, with the links that end at them, what groups and
/// routes said of these links, and groups that bound no link any more. There are at least so many GPUs.
Topology::Description with_first_gpus(const Topology::Description& machine, std::size_t count);

}  // namespace tilerail
