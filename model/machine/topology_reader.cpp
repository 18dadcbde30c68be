#include "model/machine/topology_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace tilerail {
namespace {

using Table = TopologyDefect::Table;

Engines read_engines(const TomlTable& table) {
  table.allow_only({"h2d", "d2h", "peer", "total"});
  const auto count = [&](std::string_view key) -> std::optional<int> {
    const auto value = table.find(key);
    if (!value) return std::nullopt;
    return static_cast<int>(value->integer(TopologyLimits::engines.least, TopologyLimits::engines.most));
  };
  return {count("h2d"), count("d2h"), count("peer"), count("total")};
}

/// "12 GB/s", or by number of copies: [[1, "22 GB/s"], [4, "72 GB/s"]].
CapacityCurve read_capacity(const TomlValue& value) {
  if (value.is_text()) return {{{1, value.rate(TopologyLimits::rate)}}};
  CapacityCurve curve;
  each_ascending(value, TopologyLimits::copies, "more copies", [&](double copies, const TomlValue& rate) {
    curve.points.push_back({copies, rate.rate(TopologyLimits::rate)});
  });
  if (curve.points.empty()) value.fail("has no points; expected at least one");
  return curve;
}

}  // namespace

void each_ascending(const TomlValue& value, const Range<double>& range, const char* more,
                    const std::function<void(double, const TomlValue&)>& add) {
  double last = -std::numeric_limits<double>::infinity();
  for (const TomlValue& point : value.list(TopologyLimits::points)) {
    const auto parts = point.pair();
    const double first = parts[0].number(range);
    if (first <= last) parts[0].fail(fmt::format("does not ascend; expected {} than in the point before", more));
    last = first;
    add(first, parts[1]);
  }
}

Topology::Description TopologyReader::description() {
  read_header();
  read_sources();
  if (const auto kernels = root_.find("kernels"))
    for (const auto& [name, value] : kernels->table().all()) read_kernels(name, value.table());
  each("memory", "memory", &TopologyReader::read_memory);
  each("switch", "switch", &TopologyReader::read_switch);
  each("link", "link", &TopologyReader::read_links);
  const auto names = link_names(d_.nodes, d_.links);
  for (std::size_t i = 0; i < names.size(); ++i) links_.emplace(names[i], LinkId{i});
  each("group", "group", &TopologyReader::read_group);
  each("route", "route", &TopologyReader::read_route);
  if (const auto copies = root_.find("copies")) read_copies(copies->table());
  if (const auto issue = root_.find("issue")) read_issue(issue->table());
  return d_;
}

TomlPlace TopologyReader::place_of(const TopologyDefect& defect) const {
  const auto places = places_.find(defect.table);
  if (places == places_.end() || defect.index >= places->second.size()) return {file_};
  return places->second[defect.index];
}

void TopologyReader::each(std::string_view key, std::string_view name, void (TopologyReader::*read)(TomlTable&)) {
  const auto value = root_.find(key);
  if (!value) return;
  for (TomlTable& table : value->tables(name)) (this->*read)(table);
}

void TopologyReader::read_header() {
  root_.allow_only({"schema", "name", "description", "sources", "memory", "switch", "link", "group", "route", "copies",
                    "issue", "kernels"});
  root_.need("schema").integer(1, 1);
  const TomlValue name = root_.need("name");
  d_.name = name.text();
  if (!is_name(d_.name)) name.fail(fmt::format("is no name; expected {}", expected_name));
  if (const auto text = root_.find("description")) d_.description = text->text();
}

void TopologyReader::read_sources() {
  for (const auto& [key, value] : root_.need("sources").table().all()) {
    const TomlTable table = value.table();
    table.allow_only({"kind", "text"});
    const TomlValue kind = table.need("kind");
    Source source{key, Source::Kind::assumed, table.need("text").text()};
    if (kind.text() == "measured")
      source.kind = Source::Kind::measured;
    else if (kind.text() == "published")
      source.kind = Source::Kind::published;
    else if (kind.text() != "assumed")
      kind.fail("is unknown; expected measured, published or assumed");
    d_.sources.push_back(source);
    places_[Table::source].push_back(value.place());
  }
}

std::string TopologyReader::source_of(const TomlTable& table) const {
  const TomlValue value = table.need("source");
  std::string key = value.text();
  if (std::none_of(d_.sources.begin(), d_.sources.end(), [&](const Source& s) { return s.key == key; }))
    value.fail("is unknown; expected a key of [sources]");
  return key;
}

NodeId TopologyReader::add_node(const TomlTable& table, NodeKind kind) {
  const TomlValue name = table.need("name");
  const NodeId id{d_.nodes.size()};
  if (id.index() >= TopologyLimits::nodes)
    name.fail(fmt::format("is one node too many; expected at most {}", TopologyLimits::nodes));
  if (!nodes_.emplace(name.text(), id).second) name.fail("is the name of another node; expected unique names");
  d_.nodes.push_back({name.text(), kind, source_of(table)});
  places_[Table::node].push_back(name.place());
  return id;
}

void TopologyReader::read_memory(TomlTable& table) {
  table.rename("memory " + in_quotes(table.need("name").text()));
  const TomlValue kind = table.need("kind");
  Memory memory;
  if (kind.text() == "host") {
    memory.kind = NodeKind::host;
    table.allow_only({"name", "kind", "capacity", "engines", "watts", "source"});
  } else if (kind.text() == "gpu") {
    table.allow_only({"name", "kind", "device", "capacity", "kernels", "engines", "watts", "source"});
    memory.device =
        static_cast<int>(table.need("device").integer(TopologyLimits::device.least, TopologyLimits::device.most));
    const TomlValue kernels = table.need("kernels");
    const std::string name = kernels.text();
    const auto known =
        std::find_if(d_.kernels.begin(), d_.kernels.end(), [&](const KernelTimes& k) { return k.name == name; });
    if (known == d_.kernels.end()) kernels.fail("is unknown; expected NAME of a [kernels.NAME] table");
    memory.kernels = static_cast<std::size_t>(known - d_.kernels.begin());
  } else {
    kind.fail("is unknown; expected host or gpu");
  }
  memory.node = add_node(table, memory.kind);
  memory.name = d_.nodes[memory.node.index()].name;
  memory.source = d_.nodes[memory.node.index()].source;
  if (const auto capacity = table.find("capacity")) memory.capacity = capacity->bytes(TopologyLimits::capacity);
  if (const auto engines = table.find("engines")) memory.engines = read_engines(engines->table());
  if (const auto watts = table.find("watts")) {
    const TomlTable values = watts->table();
    values.allow_only({"idle", "busy"});
    memory.idle_watts = values.need("idle").watts(TopologyLimits::watts);
    memory.busy_watts = values.need("busy").watts(TopologyLimits::watts);
  }
  d_.memories.push_back(memory);
  places_[Table::memory].push_back(table.place());
}

void TopologyReader::read_switch(TomlTable& table) {
  table.allow_only({"name", "source"});
  table.rename("switch " + in_quotes(table.need("name").text()));
  add_node(table, NodeKind::network_switch);
}

void TopologyReader::read_group(TomlTable& table) {
  table.allow_only({"name", "forward", "backward", "capacity", "both_busy", "forward_share", "source"});
  CapacityGroup group;
  group.name = table.need("name").text();
  table.rename("group " + in_quotes(group.name));
  group.forward = links(table.need("forward"));
  if (const auto backward = table.find("backward")) group.backward = links(*backward);
  if (const auto capacity = table.find("capacity")) group.capacity = read_capacity(*capacity);
  if (const auto both_busy = table.find("both_busy")) group.both_busy = read_capacity(*both_busy);
  if (const auto share = table.find("forward_share"))
    group.forward_share = share->number(TopologyLimits::forward_share);
  group.source = source_of(table);
  d_.groups.push_back(group);
  places_[Table::group].push_back(table.place());
}

void TopologyReader::read_route(TomlTable& table) {
  table.allow_only({"from", "to", "links", "source"});
  const TomlValue from = table.need("from"), to = table.need("to");
  table.rename(fmt::format("route {} to {}", in_quotes(from.text()), in_quotes(to.text())));
  d_.routes.push_back({memory(from), memory(to), links(table.need("links")), source_of(table)});
  places_[Table::route].push_back(table.place());
}

void TopologyReader::read_copies(const TomlTable& table) {
  table.allow_only(
      {"strided_efficiency", "strided_efficiency_busy", "strided_efficiency_peer", "strided_border", "source"});
  const auto read = [](const TomlValue& value) {
    std::vector<StridedEfficiency::Point> points;
    for (const TomlValue& point : value.list(TopologyLimits::points)) {
      const auto parts = point.list(3);
      if (parts.size() < 2)
        point.fail("has another length; expected [column, efficiency] or [column, pitch, efficiency]");
      points.push_back({parts[0].bytes(TopologyLimits::column), parts.back().number(TopologyLimits::efficiency),
                        parts.size() == 3 ? parts[1].bytes(TopologyLimits::column) : Bytes{0}});
    }
    return points;
  };
  d_.strided.points = read(table.need("strided_efficiency"));
  if (const auto busy = table.find("strided_efficiency_busy")) d_.strided.busy = read(*busy);
  if (const auto peer = table.find("strided_efficiency_peer")) d_.strided.peer = read(*peer);
  if (const auto border = table.find("strided_border")) d_.strided.border = border->bytes(TopologyLimits::column);
  d_.strided.source = source_of(table);
  places_[Table::copies].push_back(table.place());
}

void TopologyReader::read_issue(const TomlTable& table) {
  table.allow_only({"per_op", "per_kernel", "per_dependency", "per_call", "source"});
  d_.issue.per_op = table.need("per_op").seconds(TopologyLimits::latency);
  if (const auto per_kernel = table.find("per_kernel"))
    d_.issue.per_kernel = per_kernel->seconds(TopologyLimits::latency);
  d_.issue.per_dependency = table.need("per_dependency").seconds(TopologyLimits::latency);
  if (const auto per_call = table.find("per_call")) d_.issue.per_call = per_call->seconds(TopologyLimits::latency);
  d_.issue.source = source_of(table);
  places_[Table::issue].push_back(table.place());
}

}  // namespace tilerail
