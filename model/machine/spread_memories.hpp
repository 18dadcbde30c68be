#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The memories that stand for all hosts of a machine, by name. No node of a file can have such a name.
inline constexpr std::array<std::pair<std::string_view, Pages>, 3> spread_names{
    {{"h*", Pages::interleaved}, {"h/cols", Pages::columns}, {"h/rows", Pages::rows}}};

/// These memories and, where several of them are hosts, one for each name above. Such a memory has no node: what is
/// copied from or to it crosses the routes of the hosts that it stands for. docs/model.md#homes-on-several-hosts
std::vector<Memory> with_spread_memories(std::vector<Memory> memories);

}  // namespace tilerail
