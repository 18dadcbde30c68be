#include "model/machine/topology_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilerail {

using Table = TopologyDefect::Table;

Topology::Description TopologyReader::description() {
  read_header();
  read_sources();
  read_all_kernels();
  kernels_unknown_ = names_unknown_;
  each("memory", "memory", &TopologyReader::read_memories);
  each("switch", "switch", &TopologyReader::read_switches);
  nodes_unknown_ = names_unknown_;
  each("link", "link", &TopologyReader::read_links);
  index_links();
  each("group", "group", &TopologyReader::read_groups);
  each("route", "route", &TopologyReader::read_routes);
  only("copies", &TopologyReader::read_copies);
  only("issue", &TopologyReader::read_issue);
  return d_;
}

TomlPlace TopologyReader::place_of(const TopologyDefect& defect) const {
  const auto places = places_.find(defect.table);
  if (places == places_.end() || defect.index >= places->second.size()) return {files_.files().front().file.name};
  return places->second[defect.index];
}

void TopologyReader::add_defects(const Topology::Description& description) {
  const bool structure_known = !names_unknown_ && errors_->empty();
  for (const TopologyDefect& defect : defects_of(description)) {
    const auto bad = bad_.find(defect.table);
    const bool told = bad != bad_.end() && bad->second.contains(defect.index);
    if (!told && (structure_known || !defect.of_structure)) errors_->push_back({place_of(defect), defect.what()});
  }
}

void TopologyReader::guarded(const std::function<void()>& read) {
  if (!errors_) return read();
  std::map<Table, std::size_t> before;
  for (const auto& [table, places] : places_) before[table] = places.size();
  const std::size_t known = errors_->size();
  if (!collecting(errors_, read)) names_unknown_ = true;
  if (errors_->size() == known) return;
  for (const auto& [table, places] : places_)
    for (std::size_t i = before[table]; i < places.size(); ++i) bad_[table].insert(i);
}

void TopologyReader::each(std::string_view key, std::string_view name, Read read) {
  for (const TableScope& scope : files_.scopes()) {
    scope_ = &scope;
    if (key == "memory") begin_numbers();
    const auto value = scope.tables.find(key);
    if (!value || !scope.file->wants(key)) continue;
    for (TomlTable& table : value->tables(name)) guarded([&] { (this->*read)(table); });
  }
}

void TopologyReader::only(std::string_view key, void (TopologyReader::*read)(const TomlTable&)) {
  const MachineFile* from = nullptr;
  for (const TableScope& scope : files_.scopes()) {
    const auto value = scope.tables.find(key);
    if (!value || !scope.file->wants(key)) continue;
    if (from != nullptr && from->includer == nullptr) return;  // the machine's own stands for all
    if (from != nullptr)
      value->report(fmt::format("stands in '{}', too; expected one, chosen by 'take' of an include", from->file.name));
    from = scope.file;
    scope_ = &scope;
    guarded([&] { (this->*read)(value->table()); });
  }
}

void TopologyReader::read_header() {
  for (MachineFile& file : files_.files()) {
    const TomlTable root = file.tables();
    root.allow_only({"schema", "name", "description", "include", "sources", "memory", "switch", "link", "group",
                     "route", "copies", "issue", "kernels", "template", "instance"});
    if (const auto schema = root.find("schema")) schema->integer(1, 1);
  }
  const TomlTable root = files_.files().front().tables();
  root.need("schema");
  const TomlValue name = root.need("name");
  d_.name = name.text();
  if (!is_name(d_.name)) name.report(fmt::format("is no name; expected {}", expected_name));
  if (const auto text = root.find("description")) d_.description = text->text();
}

namespace {

Source read_source(const std::string& key, const TomlTable& table) {
  table.allow_only({"kind", "text"});
  const TomlValue kind = table.need("kind");
  Source source{key, Source::Kind::assumed, table.need("text").text()};
  if (kind.text() == "measured")
    source.kind = Source::Kind::measured;
  else if (kind.text() == "published")
    source.kind = Source::Kind::published;
  else if (kind.text() != "assumed")
    kind.report("is unknown; expected measured, published or assumed");
  return source;
}

}  // namespace

/// Files may use one key for different sources: then that of the later file gets the file's name, too.
void TopologyReader::add_source(MachineFile& file, Source source, const TomlPlace& place) {
  const std::string key = source.key;
  const auto taken = [&] { return std::ranges::find(d_.sources, source.key, &Source::key); };
  const auto known = taken();
  const bool same = known != d_.sources.end() && known->kind == source.kind && known->text == source.text;
  while (!same && taken() != d_.sources.end()) source.key += fmt::format(" ({})", file.file.name);
  file.sources[key] = source.key;
  if (same) return;
  d_.sources.push_back(source);
  places_[Table::source].push_back(place);
}

void TopologyReader::read_sources() {
  for (MachineFile& file : files_.files())
    guarded([&] {
      const auto sources = file.tables().find("sources");
      if (!sources && file.includer == nullptr) file.tables().need("sources");
      if (!sources) return;
      for (const auto& [key, value] : sources->table().all())
        guarded([&, &k = key, &v = value] { add_source(file, read_source(k, v.table()), v.place()); });
    });
}

void TopologyReader::read_all_kernels() {
  for (const TableScope& scope : files_.scopes()) {
    scope_ = &scope;
    if (scope.prefixes.size() > 1) continue;  // templates have none
    guarded([&] {
      if (const auto kernels = scope.tables.find("kernels"))
        for (const auto& [name, value] : kernels->table().all())
          if (scope.file->wants("kernels", name)) guarded([&, &n = name, &v = value] { read_kernels(n, v.table()); });
    });
  }
}

std::string TopologyReader::source_of(const TomlTable& table) const {
  const TomlValue value = table.need("source");
  const auto known = scope_->file->sources.find(value.text());
  if (known != scope_->file->sources.end()) return known->second;
  value.report("is unknown; expected a key of [sources]");
  return "";
}

}  // namespace tilerail
