#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The memories that stand for all hosts of a machine, by name, and the one that stands for all GPUs. No node of a file
/// can have such a name.
inline constexpr std::array<std::pair<std::string_view, Pages>, 3> spread_names{
    {{"h*", Pages::interleaved}, {"h/cols", Pages::columns}, {"h/rows", Pages::rows}}};
inline constexpr std::string_view copies_name = "g*";

/// These memories and, where several of them are hosts, one for each name above; where several are GPUs, last, the one
/// in which a matrix is that each GPU has a copy of. Such a memory has no node: what is copied from or to it crosses
/// the routes of the memories that it stands for. docs/model.md#homes-on-several-hosts, docs/model.md#kept-copies
std::vector<Memory> with_spread_memories(std::vector<Memory> memories);

}  // namespace tilerail
