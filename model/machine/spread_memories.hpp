#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Names of the memories that represent all hosts of a machine, and of the memory that
/// represents all GPUs. Nodes of files cannot have such names.
/// docs/model.md#homes-on-several-hosts, docs/model.md#kept-copies
inline constexpr std::array<std::pair<std::string_view, Pages>, 3> spread_names{
    {{"h*", Pages::interleaved}, {"h/cols", Pages::columns}, {"h/rows", Pages::rows}}};
inline constexpr std::string_view copies_name = "g*";

}  // namespace tilerail
