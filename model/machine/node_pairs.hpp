#pragma once

#include <utility>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/toml_table.hpp"

namespace tilerail {

/// Which nodes the links of a table join, by its `pairing`: "all" (every one of `from` with every one of `to`, the
/// default), "zip" (the first with the first, ...), "blocks" (the longer list in equal parts of neighbours, each joined
/// with one of the shorter) or "cyclic" (the longer one dealt out to the shorter in turns).
std::vector<std::pair<NodeId, NodeId>> node_pairs(const std::vector<NodeId>& from, const std::vector<NodeId>& to,
                                                  const TomlTable& table);

}  // namespace tilerail
