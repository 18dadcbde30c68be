#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/machine/topology_reader.hpp"

namespace tilerail {

using Table = TopologyDefect::Table;

void each_ascending(const TomlValue& value, const Range<double>& range, const char* more,
                    const std::function<void(double, const TomlValue&)>& add) {
  double last = -std::numeric_limits<double>::infinity();
  for (const TomlValue& point : value.list(TopologyLimits::points)) {
    const auto parts = point.pair();
    const double first = parts[0].number(range);
    if (first <= last) parts[0].report(fmt::format("does not ascend; expected {} than in the point before", more));
    last = first;
    add(first, parts[1]);
  }
}

CapacityCurve read_capacity(const TomlValue& value) {
  if (value.is_text()) return {{{1, value.rate(TopologyLimits::rate)}}};
  CapacityCurve curve;
  each_ascending(value, TopologyLimits::copies, "more copies", [&](double copies, const TomlValue& rate) {
    curve.points.push_back({copies, rate.rate(TopologyLimits::rate)});
  });
  if (curve.points.empty()) value.report("has no points; expected at least one");
  return curve;
}

void TopologyReader::read_copies(const TomlTable& table) {
  table.allow_only({"multipath", "strided_efficiency", "strided_efficiency_again", "strided_efficiency_back",
                    "strided_efficiency_peer", "strided_beside", "strided_forgotten", "strided_border", "page_cache",
                    "source"});
  const auto multipath = table.find("multipath");
  if (multipath && multipath->text() != "one" && multipath->text() != "split")
    multipath->report("is unknown; expected one or split");
  d_.split_paths = multipath && multipath->text() == "split";
  const auto read = [](const TomlValue& value) {
    std::vector<StridedEfficiency::Point> points;
    for (const TomlValue& point : value.list(TopologyLimits::points)) {
      const auto parts = point.list(3);
      if (parts.size() < 2) {
        point.report("has another length; expected [column, efficiency] or [column, pitch, efficiency]");
        continue;
      }
      points.push_back({parts[0].bytes(TopologyLimits::column), parts.back().number(TopologyLimits::efficiency),
                        parts.size() == 3 ? parts[1].bytes(TopologyLimits::column) : Bytes{0}});
    }
    return points;
  };
  const auto efficiency = table.find("strided_efficiency");
  if (efficiency || !multipath) d_.strided.points = read(efficiency ? *efficiency : table.need("strided_efficiency"));
  if (const auto again = table.find("strided_efficiency_again")) d_.strided.again = read(*again);
  if (const auto cache = table.find("page_cache")) d_.strided.cache = cache->bytes(TopologyLimits::capacity);
  if (const auto back = table.find("strided_efficiency_back")) d_.strided.back = read(*back);
  if (const auto peer = table.find("strided_efficiency_peer")) d_.strided.peer = read(*peer);
  if (const auto beside = table.find("strided_beside")) {
    if (d_.strided.points.empty()) beside->report("has no meaning here; expected it next to 'strided_efficiency'");
    d_.strided.beside = beside->number(TopologyLimits::factor);
  }
  if (const auto forgotten = table.find("strided_forgotten")) {
    if (d_.strided.points.empty()) forgotten->report("has no meaning here; expected it next to 'strided_efficiency'");
    d_.strided.forgotten = forgotten->number(TopologyLimits::share_of_lines);
  }
  if (const auto border = table.find("strided_border")) d_.strided.border = border->bytes(TopologyLimits::column);
  d_.strided.source = source_of(table);
  places_[Table::copies].push_back(table.place());
}

void TopologyReader::read_issue(const TomlTable& table) {
  table.allow_only({"per_op", "per_kernel", "per_dependency", "per_call", "hand_on", "graph", "source"});
  d_.issue.per_op = table.need("per_op").seconds(TopologyLimits::latency);
  if (const auto per_kernel = table.find("per_kernel"))
    d_.issue.per_kernel = per_kernel->seconds(TopologyLimits::latency);
  d_.issue.per_dependency = table.need("per_dependency").seconds(TopologyLimits::latency);
  if (const auto per_call = table.find("per_call")) d_.issue.per_call = per_call->seconds(TopologyLimits::latency);
  if (const auto hand_on = table.find("hand_on")) d_.issue.hand_on = hand_on->seconds(TopologyLimits::latency);
  if (const auto value = table.find("graph")) {
    const TomlTable graph = value->table();
    graph.allow_only({"per_call", "per_copy", "per_kernel", "per_dependency", "between_gpus"});
    const auto cost = [&](const char* key) { return graph.need(key).seconds(TopologyLimits::latency); };
    d_.issue.graph = {cost("per_call"), cost("per_copy"), cost("per_kernel"), cost("per_dependency")};
    if (const auto between = graph.find("between_gpus"))
      d_.issue.graph->between_gpus = between->seconds(TopologyLimits::latency);
  }
  d_.issue.source = source_of(table);
  places_[Table::issue].push_back(table.place());
}

void TopologyReader::read_uncertainty(const TomlTable& table) {
  table.allow_only({"kernels", "other_shapes", "load", "copies", "columns", "issue", "source"});
  Uncertainty& u = d_.uncertainty.emplace();
  const auto by_type = [](const TomlTable& kernels, const auto& add) {
    kernels.allow_only({"f64", "f32", "f16", "bf16", "tf32"});
    for (const DType dtype : dtypes)
      if (const auto value = kernels.find(to_string(dtype))) add(dtype, *value);
  };
  by_type(table.need("kernels").table(), [&](DType dtype, const TomlValue& value) {
    const double half_width = value.number(TopologyLimits::uncertainty);
    u.kernels.push_back({dtype, half_width, half_width});
  });
  if (const auto others = table.find("other_shapes"))
    by_type(others->table(), [&](DType dtype, const TomlValue& value) {
      const auto known = std::ranges::find(u.kernels, dtype, &Uncertainty::Kernels::dtype);
      if (known == u.kernels.end()) return value.report("is of a type that 'kernels' lacks; expected it in both");
      known->other_shapes = value.number(TopologyLimits::uncertainty);
    });
  u.copies = table.need("copies").number(TopologyLimits::uncertainty);
  const auto optional = [&](const char* key, double& half_width) {
    if (const auto value = table.find(key)) half_width = value->number(TopologyLimits::uncertainty);
  };
  optional("load", u.load), optional("columns", u.columns), optional("issue", u.issue);
  u.source = source_of(table);
  places_[Table::uncertainty].push_back(table.place());
}

}  // namespace tilerail
