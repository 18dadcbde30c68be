#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/toml_table.hpp"
#include "model/machine/topology.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {

/// Calls add(x, y) for each [x, y] of a list whose x ascend; `more` says in the error what was expected of the next x.
void each_ascending(const TomlValue& value, const Range<double>& range, const char* more,
                    const std::function<void(double, const TomlValue&)>& add);

/// Turns the tables of one machine file into a description and remembers where each entry stands.
/// Every member throws InputError "file:line:column: ..." for a bad table. Source: docs/formats.md#topology.
class TopologyReader {
 public:
  TopologyReader(const toml::table& root, const std::string& file) : root_{root, file, ""}, file_{file} {}

  Topology::Description description();

  /// Where the entry that a defect is about stands in the file.
  TomlPlace place_of(const TopologyDefect& defect) const;

 private:
  void read_header();
  void read_sources();
  void read_kernels(const std::string& name, const TomlTable& table);
  GemmCurve read_gemm(TomlTable& table);
  void read_memory(TomlTable& table);
  void read_switch(TomlTable& table);
  void read_links(TomlTable& table);
  void read_group(TomlTable& table);
  void read_route(TomlTable& table);
  void read_copies(const TomlTable& table);
  void read_issue(const TomlTable& table);

  /// Calls `read` for each table of the list `key`, if there is one.
  void each(std::string_view key, std::string_view name, void (TopologyReader::*read)(TomlTable&));

  std::string source_of(const TomlTable& table) const;
  NodeId add_node(const TomlTable& table, NodeKind kind);
  NodeId node(const TomlValue& name) const;
  MemoryId memory(const TomlValue& name) const;
  LinkId link(const TomlValue& name) const;
  std::vector<LinkId> links(const TomlValue& names) const;
  std::vector<NodeId> nodes(const TomlValue& names) const;

  TomlTable root_;
  const std::string& file_;
  Topology::Description d_;
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<std::string, LinkId, std::less<>> links_;
  std::map<TopologyDefect::Table, std::vector<TomlPlace>> places_;
};

}  // namespace tilerail
