#include "model/machine/machine_files.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/base/topology_limits.hpp"
#include "model/machine/graph_names.hpp"
#include "model/machine/toml_text.hpp"

namespace tilerail {
namespace {

constexpr size_t most_files = 64, most_depth = 8;

/// "kernels.h200" as its kind and its name, which is empty in "kernels".
std::pair<std::string_view, std::string_view> kind_and_name(std::string_view take) {
  const size_t dot = take.find('.');
  return {take.substr(0, dot), dot == std::string_view::npos ? std::string_view{} : take.substr(dot + 1)};
}

const MachineTable* table_of(std::string_view kind) {
  const auto* const known = std::ranges::find(machine_tables, kind, &MachineTable::key);
  return known == machine_tables.end() ? nullptr : known;
}

}  // namespace

bool MachineFile::wants(std::string_view kind, std::string_view of_name) const {
  const bool here = !take || std::any_of(take->begin(), take->end(), [&](const std::string& each) {
    return each == kind || (!of_name.empty() && each == fmt::format("{}.{}", kind, of_name));
  });
  return here && (includer == nullptr || includer->wants(kind, of_name));
}

MachineFiles::MachineFiles(std::string_view text, const std::string& name, const FileReader& read) : read_{read} {
  add_file(text, name, nullptr, {});
  for (MachineFile& file : files_) find_templates(file);
  for (MachineFile& file : files_) add_scope({&file, file.tables(), {""}, 0}, 0);
}

void MachineFiles::add_file(std::string_view text, const std::string& name, const MachineFile* includer, Take take) {
  bytes_ += text.size();
  files_.push_back({name, parsed_toml(text, name, bytes_), includer, std::move(take)});
  const MachineFile& file = files_.back();
  const auto included = file.tables().find("include");
  if (!included) return;
  std::vector<TomlValue> list{*included};
  if (included->is_list()) list = included->list(most_files);
  for (const TomlValue& each : list) include(file, each);
}

MachineFiles::Take MachineFiles::read_take(const TomlValue& value) {
  std::vector<std::string> take, expected;
  for (const MachineTable& table : machine_tables) {
    expected.emplace_back(table.key);
    if (table.has_names) expected.push_back(fmt::format("{}.NAME", table.key));
  }
  for (const TomlValue& each : value.list(TopologyLimits::points)) {
    take.push_back(each.text());
    const auto [kind, name] = kind_and_name(take.back());
    const MachineTable* const table = table_of(kind);
    if (!table || (take.back().size() > kind.size() && !table->has_names))
      each.fail(fmt::format("is unknown; expected {}", fmt::join(expected, ", ")));
  }
  if (take.empty()) value.fail("takes nothing; expected what to take, or no 'take' for everything");
  return take;
}

/// In the file or in those that it includes itself, which are behind it in the list.
void MachineFiles::check_take(const TomlValue& value, const MachineFile& included) const {
  const auto begin = std::ranges::find(files_, &included, [](const MachineFile& file) { return &file; });
  for (const TomlValue& each : value.list(TopologyLimits::points)) {
    const std::string take = each.text();
    const auto [kind, name] = kind_and_name(take);
    const MachineTable* const table = table_of(kind);
    const auto has = [table, &n = name](const MachineFile& file) {
      const auto tables = file.tables().find(table->key);
      return tables && (n.empty() || !table->has_names || tables->table().find(n));
    };
    if (table && std::none_of(begin, files_.end(), has))
      each.fail(fmt::format("is not in '{}'; expected what the file has", included.name));
  }
}

void MachineFiles::include(const MachineFile& from, const TomlValue& what) {
  Take take;
  std::optional<TomlValue> taken;
  TomlValue path = what;
  if (!what.is_text()) {
    const TomlTable table = what.table();
    table.allow_only({"file", "take"});
    path = table.need("file");
    taken = table.find("take");
    if (taken) take = read_take(*taken);
  }
  if (!read_) path.fail("cannot be included here; expected a machine in one file");
  if (files_.size() >= most_files) path.fail(fmt::format("is one file too many; expected at most {}", most_files));
  const auto place = std::filesystem::path{from.name}.parent_path() / path.text();
  const std::string name = place.lexically_normal().string();
  for (const MachineFile* file = &from; file != nullptr; file = file->includer)
    if (std::filesystem::path{file->name}.lexically_normal() == name)
      path.fail("includes itself; expected another file");
  std::string text;
  try {
    text = read_(name);
  } catch (const InputError& error) {
    path.fail(fmt::format("is not there: {}", error.what()));
  }
  const size_t before = files_.size();
  add_file(text, name, &from, std::move(take));
  if (taken) check_take(*taken, *std::next(files_.begin(), ptrdiff_t(before)));
}

void MachineFiles::find_templates(MachineFile& file) {
  const auto all = file.tables().find("template");
  if (!all) return;
  std::vector<std::string> keys;
  for (const MachineTable& table : machine_tables)
    if (table.in_templates) keys.emplace_back(table.key);
  for (const auto& [name, value] : all->table().all()) {
    if (!file.wants("template", name)) continue;
    const TomlTable tables = value.table();
    tables.allow_only(keys);
    if (!templates_.emplace(name, TableScope{&file, tables, {}, std::nullopt}).second)
      value.fail("is the name of another template; expected unique names");
  }
}

void MachineFiles::add_scope(const TableScope& scope, size_t depth) {
  scopes_.push_back(scope);
  const auto instances = scope.tables.find("instance");
  if (!instances || !scope.file->wants("instance")) return;
  for (TomlTable& instance : instances->tables("instance")) {
    instance.allow_only({"template", "name", "names", "device"});
    add_instances(scope, instance, depth + 1);
  }
}

void MachineFiles::add_instances(const TableScope& scope, TomlTable& instance, size_t depth) {
  const TomlValue name = instance.need("template");
  const auto known = templates_.find(name.text());
  if (known == templates_.end()) name.fail("is no template; expected NAME of a [template.NAME]");
  if (depth > most_depth)
    name.fail(fmt::format("is inside of itself or too deep; expected at most {} levels", most_depth));
  std::optional<int64_t> device;
  if (const auto first = instance.find("device"))
    device = first->integer(TopologyLimits::device.least, TopologyLimits::device.most);
  for (const std::string& each : expanded_names(instance)) {
    if (scopes_.size() >= TopologyLimits::nodes)
      instance.fail(fmt::format("too many instances; expected at most {}", TopologyLimits::nodes));
    TableScope inside = known->second;
    inside.prefixes = scope.prefixes;
    inside.prefixes.insert(inside.prefixes.begin(), scope.prefix() + each + ".");
    inside.first_device = std::exchange(device, std::nullopt);
    add_scope(inside, depth);
  }
}

}  // namespace tilerail
