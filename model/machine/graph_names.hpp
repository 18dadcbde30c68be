#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/toml_table.hpp"
#include "model/machine/machine_files.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The names that a text stands for: "gpu[0-3]" for four; '*' and '?' stay as they are. At most `most`.
std::vector<std::string> expanded_names(const TomlValue& text, size_t most);

/// What a table calls its entries: `name` as it is, or `names`, ranges or a list of them.
std::vector<std::string> expanded_names(const TomlTable& table);

/// Which nodes the links of a table join, by its `pairing`: "all" (every one of `from` with every one of `to`, the
/// default), "zip" (the first with the first, ...), "blocks" (the longer list in equal parts of neighbours, each joined
/// with one of the shorter) or "cyclic" (the longer one dealt out to the shorter in turns).
using NodePairs = std::vector<std::pair<NodeId, NodeId>>;
NodePairs node_pairs(const std::vector<NodeId>& from, const std::vector<NodeId>& to, const TomlTable& table);

/// Finds nodes, memories and links by their names in a scope of a file. Refuses unknown names.
class GraphNames {
 public:
  static constexpr size_t npos = std::string_view::npos;

  /// `description` outlives this.
  explicit GraphNames(const Topology::Description& description) : d_{description} {}

  const TableScope* scope = nullptr;  // that is read

  /// False if the name is taken.
  bool add(const std::string& name, NodeId node) { return nodes_.emplace(name, node).second; }
  void add(NodeId node, MemoryId memory) { memories_.emplace(node, memory); }
  /// All links of the description.
  void add_links();

  /// One name, or a list of different ones, each of which may have ranges.
  std::vector<NodeId> nodes(const TomlValue& names) const;
  std::vector<MemoryId> memories(const TomlValue& text) const;
  /// The links of each of `count` entries, which are cut into as many equal parts; a text of one link stands for it in
  /// all entries.
  std::vector<std::vector<LinkId>> links(const TomlValue& list, size_t count) const;

 private:
  struct LinksOfNode {
    std::vector<LinkId> out, in;
  };

  size_t find_node(std::string_view name) const;
  template <class Add>
  static void each_name(const TomlValue& text, size_t most, const char* one, const char* several, const char* expected,
                        const Add& add);
  std::string full_name(const std::string& end) const;
  const std::vector<LinkId>& candidates(const std::string& from, const std::string& to) const;
  void add_matching_links(const TomlValue& text, const std::string& from, const std::string& to,
                          std::vector<std::string>& names) const;
  std::vector<std::string> links_of(const TomlValue& text) const;

  const Topology::Description& d_;
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<std::string, LinkId, std::less<>> links_;
  std::map<NodeId, MemoryId> memories_;
  std::vector<std::string> link_names_;  // by id
  std::vector<LinksOfNode> links_at_;    // by node
  std::vector<LinkId> all_links_;
  mutable size_t matched_ = 0;  // names that patterns were tried on
};

}  // namespace tilerail
