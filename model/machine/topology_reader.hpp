#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/toml_table.hpp"
#include "model/machine/machine_files.hpp"
#include "model/machine/topology.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {

/// Calls add(x, y) for each [x, y] of a list whose x ascend; `more` says in the error what was expected of the next x.
void each_ascending(const TomlValue& value, const Range<double>& range, const char* more,
                    const std::function<void(double, const TomlValue&)>& add);

/// "12 GB/s", or by number of copies: [[1, "22 GB/s"], [4, "72 GB/s"]].
CapacityCurve read_capacity(const TomlValue& value);

/// Turns the tables of a machine's files into a description and remembers where each entry stands. Reports
/// "file:line:column: ..." for a bad table. Source: docs/formats.md#topology.
class TopologyReader {
 public:
  /// Both outlive this; `errors`: as of `files`.
  TopologyReader(MachineFiles& files, std::vector<TomlError>* errors)
      : files_{files}, errors_{errors}, scopes_{files.scopes()} {
    if (!files.is_complete()) unknown_ = {true, true, true, true};
  }

  Topology::Description description();

  /// Where the entry that a defect is about stands in the file.
  TomlPlace place_of(const TopologyDefect& defect) const;

  /// To the list of errors: the defects of what description() gave, without those of tables that have errors already.
  void add_defects(const Topology::Description& description);

 private:
  using Read = void (TopologyReader::*)(TomlTable&);

  void read_header();
  void note_unknown_tables(const TomlTable& root);
  void read_graph();
  void read_sources();
  void add_source(MachineFile& file, Source source, const TomlPlace& place);
  void read_all_kernels();
  void read_kernels(const std::string& name, const TomlTable& table);
  GemmCurve read_gemm(TomlTable& table);
  void read_memories(TomlTable& table);
  Memory read_memory(const TomlTable& table);
  /// Of a template, number 0 is the first that no memory before this instance has.
  void begin_numbers();
  void read_switches(TomlTable& table);
  void read_links(TomlTable& table);
  void add_links(TomlTable& table, const std::vector<std::pair<NodeId, NodeId>>& pairs, const Link& link);
  void read_groups(TomlTable& table);
  CapacityGroup read_bounds(const TomlTable& table);
  void read_routes(TomlTable& table);
  void read_copies(const TomlTable& table);
  void read_issue(const TomlTable& table);
  void read_uncertainty(const TomlTable& table);

  /// Calls `read` for the tables `key` of every scope.
  void each(std::string_view key, std::string_view name, bool* unknown, Read read);
  /// Calls `read` for the only table `key`: that of the machine's own file, else of one that it includes.
  void only(std::string_view key, void (TopologyReader::*read)(const TomlTable&));
  /// Calls `read`; what was added meanwhile has errors if that reports some. `unknown`: set if it fails.
  void guarded(bool* unknown, const std::function<void()>& read);
  /// As that, of a table that instances of a template have read before: what was told then is not told again.
  void read_again(const std::function<void()>& read);
  /// What is wrong in templates without an instance, whoever has the names in them.
  void check_unused();

  std::string source_of(const TomlTable& table) const;
  std::size_t kernels_of(const TomlValue& name) const;
  void add_node(const std::string& name, NodeKind kind, const TomlTable& table);
  /// The node that a name of the scope means; npos where there is none.
  std::size_t find_node(std::string_view name) const;
  /// Those that a text with ranges stands for. `complete`: false from now on where some are missing, which is reported;
  /// of the next functions, too.
  std::vector<MemoryId> memories(const TomlValue& text, bool& complete) const;
  std::vector<NodeId> nodes(const TomlValue& names, bool& complete) const;
  std::string full_name(const std::string& end) const;
  void index_links();
  /// The links of which some may be from `from` to `to`, names or patterns.
  const std::vector<LinkId>& candidates(const std::string& from, const std::string& to) const;
  void add_matching_links(const TomlValue& text, const std::string& from, const std::string& to,
                          std::vector<std::string>& names) const;
  /// The links that "from->to#2" with ranges, '*' and '?' stands for.
  std::vector<std::string> link_names_of(const TomlValue& text) const;
  /// Those of each of `count` entries, see part_of; a text of one link stands for it in all of them.
  std::vector<std::vector<LinkId>> links(const TomlValue& list, std::size_t count, bool& complete) const;

  MachineFiles& files_;
  std::vector<TomlError>* errors_;
  std::vector<TableScope> scopes_;
  const TableScope* scope_ = nullptr;  // that is read
  Topology::Description d_;
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<std::string, LinkId, std::less<>> links_;
  std::vector<std::string> ordered_links_;  // their names by id
  struct LinksOfNode {
    std::vector<LinkId> out, in;
  };
  std::vector<LinksOfNode> links_at_;  // by node
  std::vector<LinkId> all_links_;
  mutable std::size_t matched_ = 0;  // names that patterns were tried on
  std::map<NodeId, MemoryId> memories_;
  std::map<TopologyDefect::Table, std::vector<TomlPlace>> places_;
  std::map<TopologyDefect::Table, std::set<std::size_t>> bad_;       // entries of tables with errors
  std::map<TopologyDefect::Table, std::set<std::size_t>> repeated_;  // entries of tables that were read before
  using Place = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  static Place key_of(const TomlPlace& place);
  std::map<Place, bool> seen_;  // tables: whether they had errors when they were read first
  std::int64_t next_device_ = 0, first_device_ = 0;
  // Whether a table with errors would have told more names, of each kind.
  struct Unknown {
    bool sources = false, kernels = false, nodes = false, links = false;
  };
  Unknown unknown_;
};

}  // namespace tilerail
