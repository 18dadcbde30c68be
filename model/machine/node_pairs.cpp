#include "model/machine/node_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/topology_limits.hpp"

namespace tilerail {

std::vector<std::pair<NodeId, NodeId>> node_pairs(const std::vector<NodeId>& from, const std::vector<NodeId>& to,
                                                  const TomlTable& table) {
  const auto pairing = table.find("pairing");
  const std::string how = pairing ? pairing->text() : "all";
  std::vector<std::pair<NodeId, NodeId>> pairs;
  if (how == "all") {
    if (from.size() * to.size() > 2 * TopologyLimits::links)
      table.fail(fmt::format("too many links; expected at most {} in the file", TopologyLimits::links));
    for (const NodeId a : from)
      for (const NodeId b : to) pairs.emplace_back(a, b);
    return pairs;
  }
  if (how != "zip" && how != "blocks" && how != "cyclic")
    pairing->fail("is unknown; expected all, zip, blocks or cyclic");
  const std::size_t longer = std::max(from.size(), to.size()), shorter = std::min(from.size(), to.size());
  if (how == "zip" ? longer != shorter : longer % shorter != 0)
    pairing->fail(fmt::format("joins {} nodes with {}; expected {}", from.size(), to.size(),
                              how == "zip" ? "as many on both sides" : "a multiple of one on the other side"));
  for (std::size_t i = 0; i < longer; ++i) {
    const std::size_t partner = how == "cyclic" ? i % shorter : i / (longer / shorter);
    pairs.emplace_back(from[from.size() == longer ? i : partner], to[to.size() == longer ? i : partner]);
  }
  return pairs;
}

}  // namespace tilerail
