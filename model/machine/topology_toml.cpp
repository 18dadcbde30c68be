#include "model/machine/topology_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/files.hpp"
#include "model/base/indices.hpp"
#include "model/base/name_pattern.hpp"
#include "model/machine/figure_reader.hpp"
#include "model/machine/toml_text.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

using F = MachineFigures;
using Names = std::vector<std::string>;
using Vertices = std::vector<VertexId>;
using Links = std::vector<LinkId>;
using Description = Topology::Description;

/// "'b' " if the text stands for several names.
std::string in_text(const TomlValue& text, const std::string& name) {
  return text.is_text() && text.text() == name ? "" : in_quotes(name) + " ";
}

/// A single value, or the values of a list.
std::vector<TomlValue> one_or_more(const TomlValue& value) {
  if (!value.is_list()) return {value};
  auto list = value.list(F::vertices);
  if (list.empty()) value.fail("is empty", "at least one name");
  return list;
}

/// The names of a pattern: four for "gpu[0-3]"; '*' and '?' are kept.
Names expanded(const TomlValue& text, size_t most) {
  const std::string pattern = text.text();
  try {
    return expanded_names(pattern, most);
  } catch (const InputError& error) {
    text.fail(error.problem, error.expected);
  }
}

/// The entry names of a table: `name` as it is, or `names`, a pattern or a list of
/// patterns. Sets the first as the table's name in errors.
Names names_of(TomlTable& table, const char* what) {
  Names all;
  if (const auto names = table.find("names")) {
    if (table.find("name")) names->fail("stands next to 'name'", "one of the two");
    for (const TomlValue& each : one_or_more(*names))
      std::ranges::move(expanded(each, F::vertices), std::back_inserter(all));
  } else {
    all.push_back(table.need("name").text());
  }
  table.rename(fmt::format("{} {}", what, in_quotes(all.front())));
  return all;
}

[[noreturn]] void fail_links(const TomlTable& table) {
  table.fail("too many links", fmt::format("at most {} in the file", F::links));
}

/// The pairs of vertices for the links of a table, by its `pairing`: "all" (every vertex
/// of `from` with every vertex of `to`, the default), "zip" (the first with the first,
/// ...), "blocks" (the longer list in equal parts of neighbours, each joined with one
/// vertex of the shorter list) or "cyclic" (the longer list distributed round-robin over
/// the shorter).
using NodePairs = std::vector<std::pair<VertexId, VertexId>>;
NodePairs node_pairs(const Vertices& from, const Vertices& to, const TomlTable& table) {
  static constexpr std::array<std::string_view, 4> pairings{"all", "zip", "blocks",
                                                            "cyclic"};
  const auto pairing = table.find("pairing");
  const std::string_view how = pairings[pairing ? pairing->one_of(pairings) : 0];
  NodePairs pairs;
  if (how == "all") {
    if (from.size() * to.size() > 2 * F::links) fail_links(table);
    for (const VertexId a : from)
      for (const VertexId b : to) pairs.emplace_back(a, b);
    return pairs;
  }
  const size_t longer = std::max(from.size(), to.size()),
               shorter = std::min(from.size(), to.size());
  if (how == "zip" ? longer != shorter : longer % shorter != 0)
    pairing->fail(
        fmt::format("joins {} memories or switches with {}", from.size(), to.size()),
        how == "zip" ? "as many on both sides" : "a multiple of one on the other side");
  for (size_t i = 0; i < longer; ++i) {
    const size_t partner = how == "cyclic" ? i % shorter : i / (longer / shorter);
    pairs.emplace_back(from[from.size() == longer ? i : partner],
                       to[to.size() == longer ? i : partner]);
  }
  return pairs;
}

/// Finds vertices, memories and links of a description by name. Rejects unknown names.
class GraphNames {
 public:
  /// False if the name already exists.
  bool add(const std::string& name, VertexId vertex) {
    return vertices_.emplace(name, vertex).second;
  }
  void add(const std::string& name, MemoryId memory) { memories_.emplace(name, memory); }
  void add(const std::string& name, LinkId link) { links_.emplace(name, link); }

  /// One name, or a list of distinct names, each possibly with ranges.
  Vertices vertices(const TomlValue& names) const {
    Vertices result;
    std::set<VertexId> seen;
    for (const TomlValue& text : one_or_more(names))
      for (const std::string& name : expanded(text, F::vertices)) {
        const VertexId vertex = found(vertices_, text, name, "memory or switch",
                                      "names of memories or switches");
        if (!seen.insert(vertex).second)
          text.fail(in_text(text, name) + "is listed twice", "it once");
        result.push_back(vertex);
      }
    return result;
  }

  /// One name, or a list of names, each possibly with ranges.
  std::vector<MemoryId> memories(const TomlValue& names) const {
    std::vector<MemoryId> result;
    for (const TomlValue& text : one_or_more(names))
      for (const std::string& name : expanded(text, F::routes))
        result.push_back(found(memories_, text, name, "memory", "names of memories"));
    return result;
  }

  /// The links of each of `count` entries: each text's links are divided into equal
  /// parts; a single link is shared by all entries.
  std::vector<Links> links(const TomlValue& list, size_t count) {
    std::vector<Links> entries(count);
    for (const TomlValue& text : list.list(F::links)) {
      const Links links = links_of(text);
      const bool is_shared = links.size() == 1;
      if (!is_shared && links.size() % count != 0)
        text.fail(
            fmt::format("stands for {} names, and the table for {}", links.size(), count),
            "as many for each");
      const size_t length = is_shared ? 1 : links.size() / count;
      for (const auto i : indices(entries)) {
        const auto part = std::span{links}.subspan(is_shared ? 0 : i * length, length);
        entries[i].insert(entries[i].end(), part.begin(), part.end());
      }
    }
    return entries;
  }

 private:
  template <class Id>
  using Ids = std::map<std::string, Id, std::less<>>;

  template <class Id>
  static Id found(const Ids<Id>& ids, const TomlValue& text, const std::string& name,
                  const char* kind, const char* expected) {
    const auto known = ids.find(name);
    if (known == ids.end())
      text.fail(fmt::format("{}is not a {}", in_text(text, name), kind), expected);
    return known->second;
  }

  static constexpr const char* expected_link = "\"from->to\" of a [[link]]";

  /// The links that match "from->to#2", with ranges, '*' and '?'.
  Links links_of(const TomlValue& text) {
    Links result;
    for (const std::string& name : expanded(text, F::links))
      if (name.find_first_of("*?") == std::string::npos)
        result.push_back(found(links_, text, name, "link", expected_link));
      else
        std::ranges::copy(matching(text, name), std::back_inserter(result));
    if (result.empty()) text.fail("matches no link", expected_link);
    return result;
  }

  /// The matching links, by ascending id.
  Links matching(const TomlValue& text, const std::string& name) {
    constexpr size_t most_matched =
        size_t{1} << 24;  // seconds of work; machine files need thousands
    const std::string begin = name.substr(0, name.find_first_of("*?"));
    Links result;
    for (auto link = links_.lower_bound(begin);
         link != links_.end() && link->first.starts_with(begin); ++link) {
      if (++matched_ > most_matched)
        text.fail("is one pattern too many for so many links", "names of links");
      if (fits_pattern(name, link->first)) result.push_back(link->second);
    }
    std::ranges::sort(result);
    return result;
  }

  Ids<VertexId> vertices_;
  Ids<MemoryId> memories_;
  Ids<LinkId> links_;
  size_t matched_ = 0;  // names compared with patterns so far
};

/// Converts the tables of a machine file into a description and records the place of each
/// entry. Throws InputError "file:line:column: ..." for an invalid table. Source:
/// docs/formats.md#topology.
class TopologyReader {
 public:
  explicit TopologyReader(const TomlTable& root) : root_{root} {}

  Description description() {
    read_header();
    if (const auto kernels = root_.find("kernels"))
      for (const auto& [name, value] : kernels->table().all())
        read_kernels(name, value.table());
    each("memory", d_.memories, &TopologyReader::read_memories);
    each("switch", d_.vertices, &TopologyReader::read_switches);
    each("node", d_.nodes, &TopologyReader::read_nodes);
    each("link", d_.links, &TopologyReader::read_links);
    name_links(d_);
    for (const auto i : indices(d_.links)) names_.add(d_.links[i].name, LinkId{i});
    each("group", d_.groups, &TopologyReader::read_groups);
    each("route", d_.routes, &TopologyReader::read_routes);
    only("copies", &TopologyReader::read_copies);
    only("issue", &TopologyReader::read_issue);
    only("uncertainty", &TopologyReader::read_uncertainty);
    return d_;
  }

  /// The place of a defective entry in the file.
  std::string place_of(const TopologyDefect& defect) const {
    const auto places = places_.find(defect.table);
    const bool known = places != places_.end() && defect.index < places->second.size();
    return known ? places->second[defect.index] : root_.place();
  }

 private:
  /// Calls `read` for each table `key`; `read` adds entries.
  template <class Entries>
  void each(std::string_view key, const Entries& entries,
            void (TopologyReader::*read)(TomlTable&)) {
    const auto value = root_.find(key);
    if (!value) return;
    for (TomlTable& table : value->tables(key)) {
      (this->*read)(table);
      places_[key].resize(entries.size(), table.place());
    }
  }

  void only(std::string_view key, void (TopologyReader::*read)(const TomlTable&)) {
    const auto value = root_.find(key);
    if (!value) return;
    const TomlTable table = value->table();
    places_[key].push_back(table.place());
    (this->*read)(table);
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
    root_.allow_only({"schema", "name", "description", "sources", "kernels", "memory",
                      "switch", "node", "link", "group", "route", "copies", "issue",
                      "uncertainty"});
    root_.need("schema").integer(1, 1);
    const TomlValue name = root_.need("name");
    d_.name = name.text();
    if (!is_name(d_.name)) name.fail("is not a name", expected_name);
    if (const auto text = root_.find("description")) d_.description = text->text();
    for (const auto& [key, value] : root_.need("sources").table().all()) {
      const TomlTable source = value.table();
      source.allow_only({"kind", "text"});
      const auto kind =
          static_cast<Source::Kind>(source.need("kind").one_of(source_kinds));
      d_.sources.push_back({key, kind, source.need("text").text()});
    }
  }

  std::string source_of(const TomlTable& table) const {
    const TomlValue value = table.need("source");
    if (std::ranges::find(d_.sources, value.text(), &Source::key) == d_.sources.end())
      value.fail("is unknown", "a key of [sources]");
    return value.text();
  }

  void read_kernels(const std::string& name, const TomlTable& table) {
    allow(table, F::of_kernels, {"gemm"});
    KernelTimes kernels;
    kernels.name = name;
    read_part(table, kernels, F::of_kernels);
    if (const auto gemm = table.find("gemm"))
      for (const TomlTable& curve : gemm->tables("kernels." + name + ".gemm"))
        kernels.gemm.push_back(read_gemm(curve));
    d_.kernels.push_back(std::move(kernels));
    places_["kernels"].push_back(table.place());
  }

  /// Times have one of four forms.
  GemmCurve read_gemm(const TomlTable& table) {
    const bool square = table.find("square").has_value(),
               rates = table.find("rates").has_value();
    const bool peak = table.find("peak").has_value();
    if (square + rates + peak != 1)
      table.fail(
          "expected exactly one of 'square', 'rates' and 'peak' with 'efficiency' or "
          "'blocks'");
    GemmCurve curve;
    Names keys = keys_of(F::of_gemms);
    if (peak && table.find("blocks")) {
      curve.tiled.emplace();
    } else {
      for (const std::string& key : keys_of(F::of_tiled_gemms)) std::erase(keys, key);
      keys.emplace_back(square ? "square" : rates ? "rates" : "efficiency");
      if (peak) keys.emplace_back("peak");
    }
    keys.insert(keys.end(), {"dtype", "trans", "source"});
    table.allow_only(keys);
    curve.dtype = dtypes[table.need("dtype").one_of(dtype_names)];
    if (const auto trans = table.find("trans"))
      curve.trans = trans_pairs[trans->one_of(trans_pairs)];
    read_figures(table, curve, F::of_gemms);
    if (!curve.tiled) read_points(table, curve);
    curve.source = source_of(table);
    return curve;
  }

  static void read_points(const TomlTable& table, GemmCurve& curve) {
    if (const auto square = table.find("square"))
      for (const auto& [size, time] :
           read_rows<F::SquareTime>(*square, F::square.columns))
        curve.points.push_back({size, Flops{2 * size * size * size} / time});
    if (const auto rates = table.find("rates"))
      curve.points = read_rows<GemmCurve::Point>(*rates, F::rates.columns);
    if (const auto value = table.find("peak")) {
      const FlopRate peak = value->in(F::flop_rate);
      const TomlValue shares = table.need("efficiency");
      for (const auto& [size, share] :
           read_rows<F::SquareShare>(shares, F::efficiency_of_peak.columns))
        curve.points.push_back({size, peak * share});
    }
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
    const TomlTable kernels = table.need("kernels").table();
    const TomlTable of_others = others ? others->table() : kernels;
    for (const TomlTable& half_widths : {kernels, of_others})
      half_widths.allow_only({dtype_names.begin(), dtype_names.end()});
    for (const DType dtype : dtypes) {
      const auto value = kernels.find(to_string(dtype)),
                 other = of_others.find(to_string(dtype));
      if (!value && other) other->fail("is of a type that 'kernels' lacks", "it in both");
      if (value)
        u.kernels.push_back({dtype, value->in(F::uncertainty),
                             (other ? other : value)->in(F::uncertainty)});
    }
    read_part(table, u, F::of_uncertainty);
  }

  void read_switches(TomlTable& table) {
    allow(table, std::tuple{}, {"name", "names"});
    for (const std::string& name : names_of(table, "switch"))
      add_vertex(name, VertexKind::network_switch, table);
  }

  void read_memories(TomlTable& table) {
    static constexpr std::array<std::string_view, 2> kinds{"gpu", "host"};
    const Names names = names_of(table, "memory");
    Memory memory;
    const bool is_gpu = table.need("kind").one_of(kinds) == 0;
    if (!is_gpu) memory.kind = VertexKind::host;
    Names keys{"name", "names", "kind", "kernels"};
    if (is_gpu) keys.push_back("device");
    const bool computes = is_gpu || table.find("kernels");
    if (computes) {
      allow(table, F::of_memories, keys);
      memory.processor.emplace().kernels = kernels_of(table.need("kernels"));
    } else {
      allow(table, std::tuple{std::get<0>(F::of_memories)}, keys);
    }
    if (is_gpu) memory.processor->device = table.need("device").in(F::device);
    read_figures(table, memory, F::of_memories);
    for (const std::string& name : names) {
      memory.vertex = add_vertex(name, memory.kind, table);
      memory.name = name;
      memory.source = d_.vertices.back().source;
      names_.add(name, MemoryId{d_.memories.size()});
      d_.memories.push_back(memory);
      if (is_gpu) ++memory.processor->device;
    }
  }

  size_t kernels_of(const TomlValue& name) const {
    const auto known = std::ranges::find(d_.kernels, name.text(), &KernelTimes::name);
    if (known == d_.kernels.end())
      name.fail("is unknown", "NAME of a [kernels.NAME] table");
    return size_t(known - d_.kernels.begin());
  }

  VertexId add_vertex(const std::string& name, VertexKind kind, const TomlTable& table) {
    const TomlValue value = table.need(table.find("names") ? "names" : "name");
    const VertexId id{d_.vertices.size()};
    if (id.index() >= F::vertices)
      value.fail("is one memory or switch too many",
                 fmt::format("at most {}", F::vertices));
    if (!names_.add(name, id))
      value.fail(in_text(value, name) + "is the name of another memory or switch",
                 "unique names");
    d_.vertices.push_back({name, kind, source_of(table)});
    places_["memory or switch"].push_back(value.place());
    return id;
  }

  void read_nodes(TomlTable& table) {
    allow(table, std::tuple{}, {"name", "memories", "nics"});
    Node node;
    node.name = names_of(table, "node").front();
    node.memories = names_.memories(table.need("memories"));
    if (const auto nics = table.find("nics")) node.nics = names_.vertices(*nics);
    node.source = source_of(table);
    d_.nodes.push_back(std::move(node));
  }

  void read_links(TomlTable& table) {
    allow(table, F::of_links, {"from", "to", "pairing", "both"});
    const TomlValue from = table.need("from"), to = table.need("to");
    const Vertices sources = names_.vertices(from), targets = names_.vertices(to);
    if (sources.size() == 1 && targets == sources)
      to.fail("is where the link comes from", "another memory or switch");
    const auto end = [this](const Vertices& known) {
      return d_.vertices[known.front().index()].name + (known.size() > 1 ? ",..." : "");
    };
    table.rename("link " + in_quotes(end(sources) + "->" + end(targets)));
    Link link;
    read_part(table, link, F::of_links);
    add_links(table, node_pairs(sources, targets, table), link);
  }

  /// Skips links from a vertex to itself and repeated directions.
  void add_links(const TomlTable& table, const NodePairs& pairs, Link link) {
    const auto value = table.find("both");
    const bool both = value && value->boolean();
    if (d_.links.size() + pairs.size() * (both ? 2 : 1) > F::links) fail_links(table);
    std::set<std::pair<VertexId, VertexId>> added;
    const auto add = [&](VertexId a, VertexId b) {
      if (a == b || !added.emplace(a, b).second) return;
      link.from = a;
      link.to = b;
      d_.links.push_back(link);
    };
    for (const auto& [a, b] : pairs) {
      add(a, b);
      if (both) add(b, a);
    }
  }

  /// Distributes the links over the groups of a table: each text contains equally many
  /// links for each group, or one link shared by all.
  void read_groups(TomlTable& table) {
    const Names names = names_of(table, "group");
    allow(table, F::of_groups, {"name", "names", "forward", "backward"});
    CapacityGroup group;
    read_part(table, group, F::of_groups);
    const auto forward = names_.links(table.need("forward"), names.size());
    const auto other = table.find("backward");
    const auto backward =
        other ? names_.links(*other, names.size()) : decltype(forward)(names.size());
    for (const auto i : indices(names)) {
      group.name = names[i];
      group.forward = forward[i];
      group.backward = backward[i];
      d_.groups.push_back(group);
    }
  }

  /// Pairs `from` and `to` one by one; a single memory pairs with all others. Links are
  /// distributed as in groups.
  void read_routes(TomlTable& table) {
    allow(table, F::of_routes, {"from", "to", "links"});
    const TomlValue from = table.need("from"), to = table.need("to");
    table.rename(
        fmt::format("route {} to {}", in_quotes(from.text()), in_quotes(to.text())));
    const auto starts = names_.memories(from), ends = names_.memories(to);
    Description::NamedRoute route{};
    read_part(table, route, F::of_routes);
    const size_t count = std::max(starts.size(), ends.size());
    if (starts.size() != ends.size() && starts.size() != 1 && ends.size() != 1)
      to.fail(fmt::format("stands for {} memories, and 'from' for {}", ends.size(),
                          starts.size()),
              "as many, or one");
    const auto over = names_.links(table.need("links"), count);
    for (size_t i = 0; i < count; ++i) {
      route.from = starts[starts.size() == 1 ? 0 : i];
      route.to = ends[ends.size() == 1 ? 0 : i];
      route.links = over[i];
      d_.routes.push_back(route);
    }
  }

  TomlTable root_;
  Description d_;
  GraphNames names_;
  std::map<std::string_view, Names> places_;  // of the entries, by table
};

}  // namespace

Topology read_topology(std::string_view text, const std::string& file) {
  const toml::table tables = parsed_toml(text, file);
  TopologyReader reader{{tables, file, ""}};
  Description description = reader.description();
  try {
    return Topology{std::move(description)};
  } catch (const TopologyDefect& defect) {
    throw defect.at(reader.place_of(defect));
  }
}

Topology load_topology(const std::string& path) {
  return read_topology(read_file(path), path);
}

}  // namespace tilerail
