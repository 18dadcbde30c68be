#include "model/machine/topology_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/files.hpp"
#include "model/base/indices.hpp"
#include "model/machine/figure_reader.hpp"
#include "model/machine/graph_names.hpp"
#include "model/machine/machine_files.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

using F = MachineFigures;
using Names = std::vector<std::string>;
using Description = Topology::Description;

const std::vector<std::string_view>& dtype_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const DType dtype : dtypes) all.push_back(to_string(dtype));
    return all;
  }();
  return names;
}

/// Turns the tables of a machine's files into a description and remembers where each entry stands. Throws InputError
/// "file:line:column: ..." for a bad table. Source: docs/formats.md#topology.
class TopologyReader {
 public:
  /// `files` outlives this.
  explicit TopologyReader(MachineFiles& files) : files_{files} {}

  Description description() {
    read_header();
    read_sources();
    read_all_kernels();
    each("memory", &TopologyReader::read_memories);
    each("switch", &TopologyReader::read_switches);
    each("link", &TopologyReader::read_links);
    names_.add_links();
    each("group", &TopologyReader::read_groups);
    each("route", &TopologyReader::read_routes);
    only("copies", &TopologyReader::read_copies);
    only("issue", &TopologyReader::read_issue);
    only("uncertainty", &TopologyReader::read_uncertainty);
    return d_;
  }

  /// Where the entry that a defect is about stands in the file.
  std::string place_of(const TopologyDefect& defect) const {
    const auto places = places_.find(defect.table);
    const bool known = places != places_.end() && defect.index < places->second.size();
    return known ? places->second[defect.index] : toml_place(files_.files().front().name, {1, 1});
  }

 private:
  /// Calls `read` for the tables `key` of every scope.
  void each(std::string_view key, void (TopologyReader::*read)(TomlTable&)) {
    for (const TableScope& scope : files_.scopes()) {
      names_.scope = &scope;
      if (key == "memory") begin_numbers();
      const auto value = scope.tables.find(key);
      if (!value || !scope.file->wants(key)) continue;
      for (TomlTable& table : value->tables(key)) (this->*read)(table);
    }
  }

  /// Calls `read` for the only table `key`: that of the machine's own file, else of one that it includes.
  void only(std::string_view key, void (TopologyReader::*read)(const TomlTable&)) {
    const MachineFile* from = nullptr;
    for (const TableScope& scope : files_.scopes()) {
      const auto value = scope.tables.find(key);
      if (!value || !scope.file->wants(key)) continue;
      if (from && !from->includer) return;  // the machine's own stands for all
      if (from)
        value->fail(fmt::format("stands in '{}', too; expected one, chosen by 'take' of an include", from->name));
      from = scope.file;
      names_.scope = &scope;
      const TomlTable table = value->table();
      places_[key].push_back(table.place());
      (this->*read)(table);
    }
  }

  template <class Part, class Figures>
  void read_part(const TomlTable& table, Part& part, const Figures& figures) {
    read_figures(table, part, figures);
    part.source = source_of(table);
  }

  template <class Figures>
  static void allow(const TomlTable& table, const Figures& figures, Names others = {}) {
    std::ranges::move(keys_of(figures), std::back_inserter(others));
    others.emplace_back("source");
    table.allow_only(others);
  }

  void read_header() {
    Names keys{"schema", "name", "description", "include", "sources"};
    for (const MachineTable& table : machine_tables) keys.emplace_back(table.key);
    for (MachineFile& file : files_.files()) {
      const TomlTable root = file.tables();
      root.allow_only(keys);
      if (const auto schema = root.find("schema")) schema->integer(1, 1);
    }
    const TomlTable root = files_.files().front().tables();
    root.need("schema");
    const TomlValue name = root.need("name");
    d_.name = name.text();
    if (!is_name(d_.name)) name.fail(fmt::format("is not a name; expected {}", expected_name));
    if (const auto text = root.find("description")) d_.description = text->text();
  }

  void read_sources() {
    for (MachineFile& file : files_.files()) {
      const TomlTable root = file.tables();
      if (!file.includer) root.need("sources");
      if (const auto sources = root.find("sources"))
        for (const auto& [key, value] : sources->table().all()) read_source(file, key, value);
    }
  }

  /// Files may use one key for different sources: then that of the later file gets the file's name, too.
  void read_source(MachineFile& file, const std::string& key, const TomlValue& value) {
    const TomlTable table = value.table();
    table.allow_only({"kind", "text"});
    const auto kind = static_cast<Source::Kind>(table.need("kind").one_of(source_kinds));
    Source source{key, kind, table.need("text").text()};
    const auto known = [&] { return std::ranges::find(d_.sources, source.key, &Source::key); };
    const bool same = known() != d_.sources.end() && known()->kind == kind && known()->text == source.text;
    while (!same && known() != d_.sources.end()) source.key += fmt::format(" ({})", file.name);
    file.sources[key] = source.key;
    if (same) return;
    d_.sources.push_back(source);
    places_["source"].push_back(value.place());
  }

  std::string source_of(const TomlTable& table) const {
    const TomlValue value = table.need("source");
    const auto known = names_.scope->file->sources.find(value.text());
    if (known == names_.scope->file->sources.end()) value.fail("is unknown; expected a key of [sources]");
    return known->second;
  }

  /// Templates have none.
  void read_all_kernels() {
    for (const TableScope& scope : files_.scopes()) {
      names_.scope = &scope;
      const auto kernels = scope.tables.find("kernels");
      if (scope.prefixes.size() > 1 || !kernels) continue;
      for (const auto& [name, value] : kernels->table().all())
        if (scope.file->wants("kernels", name)) read_kernels(name, value.table());
    }
  }

  void read_kernels(const std::string& name, const TomlTable& table) {
    allow(table, F::of_kernels, {"gemm"});
    KernelTimes kernels;
    kernels.name = name;
    read_part(table, kernels, F::of_kernels);
    if (const auto gemm = table.find("gemm"))
      for (const TomlTable& curve : gemm->tables("kernels." + name + ".gemm")) {
        kernels.gemm.push_back(read_gemm(curve));
        if (kernels.gemm.back().tiled && !kernels.memory_bandwidth)
          curve.fail(fmt::format("has 'blocks'; expected 'memory_bandwidth' in [kernels.{}]", name));
      }
    d_.kernels.push_back(std::move(kernels));
    places_["kernels"].push_back(table.place());
  }

  GemmCurve read_gemm(const TomlTable& table) {
    allow(table, F::of_gemms, {"dtype", "trans", "square", "rates", "efficiency"});
    GemmCurve curve;
    curve.dtype = dtypes[table.need("dtype").one_of(dtype_names())];
    if (const auto trans = table.find("trans")) curve.trans = trans_pairs[trans->one_of(trans_pairs)];
    choose_form(table, curve);
    read_figures(table, curve, F::of_gemms);
    if (!curve.tiled) read_points(table, curve);
    curve.source = source_of(table);
    return curve;
  }

  /// Times stand in one of four forms.
  static void choose_form(const TomlTable& table, GemmCurve& curve) {
    const bool square = table.find("square").has_value(), rates = table.find("rates").has_value();
    const bool peak = table.find("peak").has_value();
    if (square + rates + peak != 1)
      table.fail("expected exactly one of 'square', 'rates' and 'peak' with 'efficiency' or 'blocks'");
    if (peak && table.find("blocks")) curve.tiled.emplace();
    const auto refuse = [&](std::string_view key, std::string_view neighbours) {
      if (const auto value = table.find(key))
        value->fail(fmt::format("has no meaning here; expected it next to {}", neighbours));
    };
    if (!peak || curve.tiled) refuse("efficiency", "'peak' and without 'blocks'");
    if (curve.tiled) return;
    for (const std::string& key : keys_of(F::of_tiled_gemms))
      if (key != "peak") refuse(key, "'peak' and 'blocks'");
  }

  static void read_points(const TomlTable& table, GemmCurve& curve) {
    if (const auto square = table.find("square"))
      for (const auto& [size, time] : read_rows<F::SquareTime>(*square, F::square.columns, true))
        curve.points.push_back({size, Flops{2 * size * size * size} / time});
    if (const auto rates = table.find("rates"))
      curve.points = read_rows<GemmCurve::Point>(*rates, F::rates.columns, true);
    if (const auto value = table.find("peak")) {
      const FlopRate peak = value->in(F::flop_rate);
      const TomlValue shares = table.need("efficiency");
      for (const auto& [size, share] : read_rows<F::SquareShare>(shares, F::efficiency_of_peak.columns, true))
        curve.points.push_back({size, peak * share});
    }
    if (curve.points.empty()) table.fail("has no points; expected at least one");
  }

  void read_copies(const TomlTable& table) {
    static constexpr std::array<std::string_view, 2> ways{"one", "split"};
    allow(table, F::of_copies, {"multipath"});
    const auto multipath = table.find("multipath");
    d_.split_paths = multipath && multipath->one_of(ways) == 1;
    if (!multipath) table.need("strided_efficiency");
    read_part(table, d_.strided, F::of_copies);
  }

  void read_issue(const TomlTable& table) {
    allow(table, F::of_issue);
    read_part(table, d_.issue, F::of_issue);
  }

  void read_uncertainty(const TomlTable& table) {
    allow(table, F::of_uncertainty, {"kernels", "other_shapes"});
    Uncertainty& u = d_.uncertainty.emplace();
    const auto others = table.find("other_shapes");
    const TomlTable kernels = table.need("kernels").table(), of_others = others ? others->table() : kernels;
    for (const TomlTable& half_widths : {kernels, of_others})
      half_widths.allow_only({dtype_names().begin(), dtype_names().end()});
    for (const DType dtype : dtypes) {
      const auto value = kernels.find(to_string(dtype)), other = of_others.find(to_string(dtype));
      if (!value && other) other->fail("is of a type that 'kernels' lacks; expected it in both");
      if (value) u.kernels.push_back({dtype, value->in(F::uncertainty), (other ? other : value)->in(F::uncertainty)});
    }
    read_part(table, u, F::of_uncertainty);
  }

  void read_switches(TomlTable& table) {
    allow(table, std::tuple{}, {"name", "names"});
    for (const std::string& name : names_of(table, "switch")) add_node(name, NodeKind::network_switch, table);
  }

  /// The full names of a table's entries; from now on, errors name the first of them.
  Names names_of(TomlTable& table, const char* what) const {
    Names names = expanded_names(table);
    for (std::string& name : names) name.insert(0, names_.scope->prefix());
    table.rename(fmt::format("{} {}", what, in_quotes(names.front())));
    return names;
  }

  /// Of a template, number 0 is the first that no memory before this instance has.
  void begin_numbers() {
    const bool of_template = names_.scope->prefixes.size() > 1;
    if (of_template) next_device_ = names_.scope->first_device.value_or(next_device_);
    first_device_ = of_template ? next_device_ : 0;
  }

  void read_memories(TomlTable& table) {
    static constexpr std::array<std::string_view, 2> kinds{"gpu", "host"};
    const Names names = names_of(table, "memory");
    Memory memory;
    const bool is_gpu = table.need("kind").one_of(kinds) == 0;
    if (!is_gpu) memory.kind = NodeKind::host;
    Names keys{"name", "names", "kind"};
    if (is_gpu) keys.insert(keys.end(), {"device", "kernels"});
    allow(table, F::of_memories, keys);
    if (is_gpu) {
      memory.device = table.need("device").in(F::device) + int(first_device_);
      memory.kernels = kernels_of(table.need("kernels"));
    }
    read_figures(table, memory, F::of_memories);
    for (const std::string& name : names) {
      memory.node = add_node(name, memory.kind, table);
      memory.name = name;
      memory.source = d_.nodes.back().source;
      names_.add(memory.node, MemoryId{d_.memories.size()});
      d_.memories.push_back(memory);
      places_["memory"].push_back(table.place());
      if (is_gpu) next_device_ = std::max<int64_t>(next_device_, ++memory.device);
    }
  }

  size_t kernels_of(const TomlValue& name) const {
    const auto known = std::ranges::find(d_.kernels, name.text(), &KernelTimes::name);
    if (known == d_.kernels.end()) name.fail("is unknown; expected NAME of a [kernels.NAME] table");
    return size_t(known - d_.kernels.begin());
  }

  NodeId add_node(const std::string& name, NodeKind kind, const TomlTable& table) {
    const TomlValue value = table.need(table.find("names") ? "names" : "name");
    const NodeId id{d_.nodes.size()};
    if (id.index() >= F::nodes) value.fail(fmt::format("is one node too many; expected at most {}", F::nodes));
    if (!names_.add(name, id))
      value.fail(fmt::format("{}is the name of another node; expected unique names",
                             value.is_text() && value.text() == name ? "" : in_quotes(name) + " "));
    d_.nodes.push_back({name, kind, source_of(table)});
    places_["node"].push_back(value.place());
    return id;
  }

  void read_links(TomlTable& table) {
    allow(table, F::of_links, {"from", "to", "pairing", "both"});
    const TomlValue from = table.need("from"), to = table.need("to");
    const auto sources = names_.nodes(from), targets = names_.nodes(to);
    if (sources.size() == 1 && targets == sources) to.fail("is where the link comes from; expected another node");
    const auto end = [this](const auto& known) {
      return d_.nodes[known.front().index()].name + (known.size() > 1 ? ",..." : "");
    };
    table.rename("link " + in_quotes(end(sources) + "->" + end(targets)));
    Link link;
    read_part(table, link, F::of_links);
    add_links(table, node_pairs(sources, targets, table), link);
  }

  /// A node is not linked to itself, and each direction is added once.
  void add_links(const TomlTable& table, const NodePairs& pairs, Link link) {
    const auto value = table.find("both");
    const bool both = value && value->boolean();
    if (d_.links.size() + pairs.size() * (both ? 2 : 1) > F::links)
      table.fail(fmt::format("too many links; expected at most {} in the file", F::links));
    std::set<std::pair<NodeId, NodeId>> added;
    const auto add = [&](NodeId a, NodeId b) {
      if (a == b || !added.emplace(a, b).second) return;
      link.from = a;
      link.to = b;
      d_.links.push_back(link);
      places_["link"].push_back(table.place());
    };
    for (const auto& [a, b] : pairs) {
      add(a, b);
      if (both) add(b, a);
    }
  }

  /// The links of several groups in one table are dealt out: each of their texts stands for as many links for each, or
  /// for one link that they share.
  void read_groups(TomlTable& table) {
    const Names names = names_of(table, "group");
    allow(table, F::of_groups, {"name", "names", "forward", "backward"});
    CapacityGroup group;
    read_part(table, group, F::of_groups);
    const auto forward = names_.links(table.need("forward"), names.size());
    const auto other = table.find("backward");
    const auto backward = other ? names_.links(*other, names.size()) : decltype(forward)(names.size());
    for (const auto i : indices(names)) {
      group.name = names[i];
      group.forward = forward[i];
      group.backward = backward[i];
      d_.groups.push_back(group);
      places_["group"].push_back(table.place());
    }
  }

  /// From each of `from` to that of `to` beside it, where one may stand for all; links are dealt out as those of
  /// groups.
  void read_routes(TomlTable& table) {
    allow(table, F::of_routes, {"from", "to", "links"});
    const TomlValue from = table.need("from"), to = table.need("to");
    table.rename(fmt::format("route {} to {}", in_quotes(from.text()), in_quotes(to.text())));
    const auto starts = names_.memories(from), ends = names_.memories(to);
    Description::NamedRoute route{};
    read_part(table, route, F::of_routes);
    const size_t count = std::max(starts.size(), ends.size());
    if (std::min(starts.size(), ends.size()) != count && starts.size() != 1 && ends.size() != 1)
      to.fail(fmt::format("stands for {} memories, and 'from' for {}; expected as many, or one", ends.size(),
                          starts.size()));
    const auto over = names_.links(table.need("links"), count);
    for (size_t i = 0; i < count; ++i) {
      route.from = starts[starts.size() == 1 ? 0 : i];
      route.to = ends[ends.size() == 1 ? 0 : i];
      route.links = over[i];
      d_.routes.push_back(route);
      places_["route"].push_back(table.place());
    }
  }

  MachineFiles& files_;
  Description d_;
  GraphNames names_{d_};
  std::map<std::string_view, std::vector<std::string>> places_;  // of the entries of each table
  int64_t next_device_ = 0, first_device_ = 0;
};

}  // namespace

Topology read_topology(std::string_view text, const std::string& file, const FileReader& read) {
  MachineFiles files{text, file, read};
  TopologyReader reader{files};
  Description description = reader.description();
  try {
    return Topology{std::move(description)};
  } catch (const TopologyDefect& defect) {
    throw defect.at(reader.place_of(defect));
  }
}

Topology load_topology(const std::string& path) { return read_topology(read_file(path), path, read_file); }

}  // namespace tilerail
