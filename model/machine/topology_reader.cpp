#include "model/machine/topology_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilerail {

using Table = TopologyDefect::Table;

Topology::Description TopologyReader::description() {
  read_header();
  read_sources();
  read_all_kernels();
  read_graph();
  only("copies", &TopologyReader::read_copies);
  only("issue", &TopologyReader::read_issue);
  only("uncertainty", &TopologyReader::read_uncertainty);
  if (errors_) check_unused();
  return d_;
}

void TopologyReader::read_graph() {
  each("memory", "memory", &unknown_.nodes, &TopologyReader::read_memories);
  each("switch", "switch", &unknown_.nodes, &TopologyReader::read_switches);
  each("link", "link", &unknown_.links, &TopologyReader::read_links);
  index_links();
  each("group", "group", nullptr, &TopologyReader::read_groups);
  each("route", "route", nullptr, &TopologyReader::read_routes);
}

void TopologyReader::check_unused() {
  TopologyReader reader{files_, errors_};
  reader.scopes_ = files_.unused();
  reader.unknown_ = {unknown_.sources, true, true, true};
  reader.read_graph();
}

TomlPlace TopologyReader::place_of(const TopologyDefect& defect) const {
  const auto places = places_.find(defect.table);
  if (places == places_.end() || defect.index >= places->second.size()) return {files_.files().front().file.name};
  return places->second[defect.index];
}

TopologyReader::Place TopologyReader::key_of(const TomlPlace& place) {
  return {place.file, place.position.line, place.position.column};
}

void TopologyReader::add_defects(const Topology::Description& description) {
  const bool structure_known = errors_->empty();
  const auto has = [](const auto& entries, const TopologyDefect& defect) {
    const auto known = entries.find(defect.table);
    return known != entries.end() && known->second.contains(defect.index);
  };
  std::set<Place> told;
  for (const TopologyDefect& defect : defects_of(description)) {
    if (has(bad_, defect) || (defect.of_structure && !structure_known)) continue;
    const TomlPlace place = place_of(defect);
    const bool fresh = told.insert(key_of(place)).second;
    if (fresh || !has(repeated_, defect)) errors_->push_back({place, defect.what()});
  }
}

void TopologyReader::guarded(bool* unknown, const std::function<void()>& read) {
  if (!errors_) return read();
  std::map<Table, std::size_t> before;
  for (const auto& [table, places] : places_) before[table] = places.size();
  const std::size_t known = errors_->size();
  if (!collecting(errors_, read) && unknown != nullptr) *unknown = true;
  if (errors_->size() == known) return;
  for (const auto& [table, places] : places_)
    for (std::size_t i = before[table]; i < places.size(); ++i) bad_[table].insert(i);
}

void TopologyReader::read_again(const std::function<void()>& read) {
  std::map<Table, std::size_t> before;
  for (const auto& [table, places] : places_) before[table] = places.size();
  read();
  for (const auto& [table, places] : places_)
    for (std::size_t i = before[table]; i < places.size(); ++i) repeated_[table].insert(i);
}

void TopologyReader::each(std::string_view key, std::string_view name, bool* unknown, Read read) {
  for (const TableScope& scope : scopes_) {
    scope_ = &scope;
    if (key == "memory") begin_numbers();
    const auto value = scope.tables.find(key);
    if (!value || !scope.file->wants(key)) continue;
    for (TomlTable& table : value->tables(name)) {
      const auto guarded_read = [&] { guarded(unknown, [&] { (this->*read)(table); }); };
      if (!errors_) {
        guarded_read();
        continue;
      }
      const std::size_t known = errors_->size();
      const auto [seen, fresh] = seen_.try_emplace(key_of(table.place()), false);
      if (fresh)
        guarded_read();
      else
        read_again(guarded_read);
      if (seen->second) errors_->erase(errors_->begin() + static_cast<std::ptrdiff_t>(known), errors_->end());
      seen->second = seen->second || errors_->size() > known;
    }
  }
}

void TopologyReader::only(std::string_view key, void (TopologyReader::*read)(const TomlTable&)) {
  const MachineFile* from = nullptr;
  for (const TableScope& scope : scopes_) {
    const auto value = scope.tables.find(key);
    if (!value || !scope.file->wants(key)) continue;
    if (from != nullptr && from->includer == nullptr) return;  // the machine's own stands for all
    if (from != nullptr)
      value->report(fmt::format("stands in '{}', too; expected one, chosen by 'take' of an include", from->file.name));
    from = scope.file;
    scope_ = &scope;
    guarded(nullptr, [&] { (this->*read)(value->table()); });
  }
}

namespace {

const std::initializer_list<std::string_view> root_keys{
    "schema", "name",  "description", "include", "sources", "memory",   "switch",   "link",
    "group",  "route", "copies",      "issue",   "kernels", "template", "instance", "uncertainty"};

}  // namespace

/// A table whose name is mistyped would have told names, too: of nodes and links where it is one of several.
void TopologyReader::note_unknown_tables(const TomlTable& root) {
  for (const auto& [key, value] : root.all()) {
    if (std::ranges::find(root_keys, key) != root_keys.end()) continue;
    if (value.is_list()) unknown_.nodes = unknown_.links = true;
    if (value.is_table()) unknown_.sources = unknown_.kernels = true;
  }
}

void TopologyReader::read_header() {
  for (MachineFile& file : files_.files()) {
    const TomlTable root = file.tables();
    root.allow_only(root_keys);
    note_unknown_tables(root);
    if (const auto schema = root.find("schema")) schema->integer(1, 1);
  }
  const TomlTable root = files_.files().front().tables();
  root.need("schema");
  const TomlValue name = root.need("name");
  d_.name = name.text();
  if (!is_name(d_.name)) name.report(fmt::format("is not a name; expected {}", expected_name));
  if (const auto text = root.find("description")) d_.description = text->text();
}

namespace {

Source read_source(const std::string& key, const TomlTable& table) {
  table.allow_only({"kind", "text"});
  const TomlValue kind = table.need("kind");
  Source source{key, Source::Kind::assumed, table.need("text").text()};
  if (kind.text() == "measured")
    source.kind = Source::Kind::measured;
  else if (kind.text() == "fitted")
    source.kind = Source::Kind::fitted;
  else if (kind.text() == "published")
    source.kind = Source::Kind::published;
  else if (kind.text() != "assumed")
    kind.report("is unknown; expected measured, fitted, published or assumed");
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
    guarded(&unknown_.sources, [&] {
      const auto sources = file.tables().find("sources");
      if (!sources && file.includer == nullptr) file.tables().need("sources");
      if (!sources) return;
      for (const auto& [key, value] : sources->table().all())
        guarded(&unknown_.sources,
                [&, &k = key, &v = value] { add_source(file, read_source(k, v.table()), v.place()); });
    });
}

void TopologyReader::read_all_kernels() {
  for (const TableScope& scope : scopes_) {
    scope_ = &scope;
    if (scope.prefixes.size() > 1) continue;  // templates have none
    guarded(&unknown_.kernels, [&] {
      if (const auto kernels = scope.tables.find("kernels"))
        for (const auto& [name, value] : kernels->table().all())
          if (scope.file->wants("kernels", name))
            guarded(&unknown_.kernels, [&, &n = name, &v = value] { read_kernels(n, v.table()); });
    });
  }
}

std::string TopologyReader::source_of(const TomlTable& table) const {
  const TomlValue value = table.need("source");
  const auto known = scope_->file->sources.find(value.text());
  if (known != scope_->file->sources.end()) return known->second;
  if (!unknown_.sources) value.report("is unknown; expected a key of [sources]");
  return "";
}

}  // namespace tilerail
