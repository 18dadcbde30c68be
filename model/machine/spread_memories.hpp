#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The memories that stand for all hosts of a machine, by name, and the one that stands
/// for all GPUs. No node of a file can have such a name.
/// docs/model.md#homes-on-several-hosts, docs/model.md#kept-copies
inline constexpr std::array<std::pair<std::string_view, Pages>, 3> spread_names{
    {{"h*", Pages::interleaved}, {"h/cols", Pages::columns}, {"h/rows", Pages::rows}}};
inline constexpr std::string_view copies_name = "g*";

}  // namespace tilerail
