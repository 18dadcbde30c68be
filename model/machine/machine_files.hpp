#pragma once

#include <array>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/file_reader.hpp"
#include "model/base/toml_table.hpp"

namespace tilerail {

/// A kind of table of a machine file.
struct MachineTable {
  std::string_view key;
  bool has_names = false;     // [key.NAME]; other tables may be many of one name with ranges
  bool in_templates = false;  // may stand in [template.NAME]
};
inline constexpr std::array<MachineTable, 11> machine_tables{{{"kernels", true},
                                                              {"memory", false, true},
                                                              {"switch", false, true},
                                                              {"link", false, true},
                                                              {"group", false, true},
                                                              {"route", false, true},
                                                              {"copies"},
                                                              {"issue"},
                                                              {"uncertainty"},
                                                              {"template", true},
                                                              {"instance", false, true}}};

/// One file of a machine, and which of its tables are wanted.
struct MachineFile {
  std::string name;
  toml::table root;
  const MachineFile* includer = nullptr;                         // none: the file of the machine itself
  std::optional<std::vector<std::string>> take = {};             // absent: everything
  std::map<std::string, std::string, std::less<>> sources = {};  // keys in this file: keys in the machine

  TomlTable tables() const { return {root, name, ""}; }
  /// Whether these tables count: of kind "kernels", or also of a name, "kernels.h200".
  bool wants(std::string_view kind, std::string_view of_name = {}) const;
};

/// The tables of a file, or of one instance of a template. Names of nodes in them are looked for with each of the
/// prefixes, from the first on.
struct TableScope {
  MachineFile* file;
  TomlTable tables;
  std::vector<std::string> prefixes;    // the first is that of its own nodes; the last is ""
  std::optional<int64_t> first_device;  // what device 0 of a template is here; absent: the next free number

  const std::string& prefix() const { return prefixes.front(); }
};

/// A file with those that it includes, and the instances of their templates. docs/formats.md#templates
class MachineFiles {
 public:
  /// Parses the file and its includes. `read` returns the text of an included file; without `read`, includes are
  /// refused.
  MachineFiles(std::string_view text, const std::string& name, const FileReader& read);
  MachineFiles(const MachineFiles&) = delete;
  MachineFiles& operator=(const MachineFiles&) = delete;

  /// The machine's own file first.
  std::list<MachineFile>& files() { return files_; }
  const std::list<MachineFile>& files() const { return files_; }
  const std::vector<TableScope>& scopes() const { return scopes_; }

 private:
  using Take = std::optional<std::vector<std::string>>;

  void add_file(std::string_view text, const std::string& name, const MachineFile* includer, Take take);
  void include(const MachineFile& from, const TomlValue& what);
  static Take read_take(const TomlValue& value);
  void check_take(const TomlValue& value, const MachineFile& included) const;
  void find_templates(MachineFile& file);
  void add_scope(const TableScope& scope, size_t depth);
  void add_instances(const TableScope& scope, TomlTable& instance, size_t depth);

  FileReader read_;
  size_t bytes_ = 0;
  std::list<MachineFile> files_;
  std::map<std::string, TableScope, std::less<>> templates_;
  std::vector<TableScope> scopes_;
};

}  // namespace tilerail
