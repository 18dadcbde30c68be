#pragma once

#include <functional>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The machine with the memories and links for which these return true. Removed with the others: links at removed
/// memories, removed links of groups, groups without links, and routes with a removed end or link, whose pair then
/// takes the path of the least time.
Topology::Description with_parts(const Topology::Description& machine, const std::function<bool(const Memory&)>& memory,
                                 const std::function<bool(LinkId)>& link);

/// The machine with its first `count` GPUs by number. There are at least so many.
Topology::Description with_first_gpus(const Topology::Description& machine, size_t count);

}  // namespace tilerail
