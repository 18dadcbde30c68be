#include "model/machine/machine_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/base/topology_limits.hpp"
#include "model/machine/expanded_names.hpp"
#include "model/machine/toml_text.hpp"

namespace tilerail {
namespace {

constexpr std::size_t most_files = 64, most_depth = 8;

const std::set<std::string_view> kinds{"kernels", "memory", "switch", "link",     "group",
                                       "route",   "copies", "issue",  "template", "instance"};

std::vector<std::string> read_take(const TomlValue& value) {
  std::vector<std::string> take;
  for (const TomlValue& each : value.list(TopologyLimits::points)) {
    take.push_back(each.text());
    if (!kinds.contains(std::string_view{take.back()}.substr(0, take.back().find('.'))))
      each.report(
          "is unknown; expected kernels, kernels.NAME, memory, switch, link, group, route, copies, issue, "
          "template or instance");
  }
  return take;
}

}  // namespace

bool MachineFile::wants(std::string_view kind, std::string_view name) const {
  const bool here = take.empty() || std::any_of(take.begin(), take.end(), [&](const std::string& each) {
                      return each == kind || (!name.empty() && each == fmt::format("{}.{}", kind, name));
                    });
  return here && (includer == nullptr || includer->wants(kind, name));
}

MachineFiles::MachineFiles(std::string_view text, const std::string& name, const FileReader& read,
                           std::vector<TomlError>* errors)
    : read_{read}, errors_{errors} {
  add_file(text, name, nullptr, {});
  for (MachineFile& file : files_) find_templates(file);
  for (MachineFile& file : files_) add_scope({&file, file.tables(), {""}, 0}, 0);
}

void MachineFiles::add_file(std::string_view text, const std::string& name, const MachineFile* includer,
                            std::vector<std::string> take) {
  bytes_ += text.size();
  files_.push_back({{name, errors_}, parsed_toml(text, name, bytes_), includer, std::move(take)});
  const MachineFile& file = files_.back();
  const auto included = file.tables().find("include");
  if (!included) return;
  std::vector<TomlValue> list{*included};
  if (included->is_list()) list = included->list(most_files);
  for (const TomlValue& each : list) collecting(errors_, [&] { include(file, each); });
}

void MachineFiles::include(const MachineFile& from, const TomlValue& what) {
  std::vector<std::string> take;
  TomlValue path = what;
  if (!what.is_text()) {
    const TomlTable table = what.table();
    table.allow_only({"file", "take"});
    path = table.need("file");
    if (const auto list = table.find("take")) take = read_take(*list);
  }
  if (!read_) path.fail("cannot be included here; expected a machine in one file");
  if (files_.size() >= most_files) path.fail(fmt::format("is one file too many; expected at most {}", most_files));
  const auto place = std::filesystem::path{from.file.name}.parent_path() / path.text();
  const std::string name = place.lexically_normal().string();
  for (const MachineFile* file = &from; file != nullptr; file = file->includer)
    if (std::filesystem::path{file->file.name}.lexically_normal() == name)
      path.fail("includes itself; expected another file");
  std::string text;
  try {
    text = read_(name);
  } catch (const InputError& error) {
    path.fail(fmt::format("is not there: {}", error.what()));
  }
  add_file(text, name, &from, std::move(take));
}

void MachineFiles::find_templates(MachineFile& file) {
  const auto all = file.tables().find("template");
  if (!all) return;
  for (const auto& [name, value] : all->table().all()) {
    if (!file.wants("template", name)) continue;
    const TomlTable tables = value.table();
    tables.allow_only({"memory", "switch", "link", "group", "route", "instance"});
    if (!templates_.emplace(name, TableScope{&file, tables, {}, std::nullopt}).second)
      value.report("is the name of another template; expected unique names");
  }
}

void MachineFiles::add_scope(const TableScope& scope, std::size_t depth) {
  scopes_.push_back(scope);
  const auto instances = scope.tables.find("instance");
  if (!instances || !scope.file->wants("instance")) return;
  for (TomlTable& instance : instances->tables("instance")) {
    instance.allow_only({"template", "name", "names", "device"});
    collecting(errors_, [&] { add_instances(scope, instance, depth + 1); });
  }
}

void MachineFiles::add_instances(const TableScope& scope, TomlTable& instance, std::size_t depth) {
  const TomlValue name = instance.need("template");
  const auto known = templates_.find(name.text());
  if (known == templates_.end()) name.fail("is no template; expected NAME of a [template.NAME]");
  if (depth > most_depth)
    name.fail(fmt::format("is inside of itself or too deep; expected at most {} levels", most_depth));
  std::optional<std::int64_t> device;
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
