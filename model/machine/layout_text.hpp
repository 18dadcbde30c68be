#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/layout.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The name of the memory of a whole matrix; otherwise KIND@MEMORIES, such as
/// "rows@host0+host1", "columns@gpu0..gpu7", "copies@gpu0+gpu1", "grid(2x2)@gpu0..gpu3",
/// "cyclic(2x2,512x512)@gpu0..gpu3" or, with replicas, "grid(2x2x2)@gpu0..gpu7". Cuts
/// of other forms are "irregular(2x2,0/100/1/300/0,even)@gpu0..gpu3": rows [0, 100) and
/// from 300 on belong to coordinate 0 of the grid, rows [100, 300) to coordinate 1. Three
/// have short names: "h/rows" and "h/cols" over all hosts, and "g*", a copy on each GPU.
std::string layout_text(const Layout& layout, const Topology& topology);

/// The layout of such a text on this machine. MEMORIES may also be "hosts" or "gpus": all
/// of them, or the first that a grid needs; without "@MEMORIES", the GPUs. Absent if the
/// text has another form. Throws InputError with the subject "place" if this machine
/// lacks the memories.
std::optional<Layout> layout_from_text(std::string_view text, const Topology& topology);

}  // namespace tilerail
