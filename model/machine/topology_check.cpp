#include "model/machine/topology_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "model/base/text.hpp"
#include "model/machine/graph_check.hpp"
#include "model/machine/kernels_check.hpp"
#include "model/machine/table_entry.hpp"

namespace tilerail {
namespace {

using Table = TopologyDefect::Table;

void add_of_structure(Defects& defects, TopologyDefect defect) {
  defect.of_structure = true;
  defects.push_back(std::move(defect));
}

void limit(std::size_t count, std::size_t most, const char* what) {
  if (count > most)
    throw TopologyDefect{Table::machine, 0, fmt::format("{} {}; expected at most {}", count, what, most)};
}

void check_limits(const Topology::Description& d) {
  limit(d.memories.size(), TopologyLimits::memories, "memories");
  limit(d.nodes.size(), TopologyLimits::nodes, "nodes");
  limit(d.links.size(), TopologyLimits::links, "links");
  limit(d.groups.size(), TopologyLimits::groups, "groups");
  limit(d.routes.size(), TopologyLimits::routes, "routes");
}

void check_nodes(const Topology::Description& d, Defects& defects) {
  std::unordered_set<std::string> names;
  each_entry(defects, d.nodes.size(), [&](std::size_t i) {
    const Entry entry{Table::node, i, fmt::format("node '{}'", d.nodes[i].name)};
    entry.require_node_name(d.nodes[i].name);
    if (!names.insert(d.nodes[i].name).second) entry.fail("there is another node of that name; expected unique names");
  });
}

void check_engines(const Entry& entry, const Engines& engines) {
  for (const auto& count : {engines.h2d, engines.d2h, engines.peer, engines.total})
    entry.require_in(TopologyLimits::engines, count, "an engine count");
}

void check_memories(const Topology::Description& d, Defects& defects) {
  std::map<int, std::string> devices;
  bool host = false;
  each_entry(defects, d.memories.size(), [&](std::size_t i) {
    const Memory& memory = d.memories[i];
    host = host || memory.kind == NodeKind::host;
    const Entry entry{Table::memory, i, fmt::format("memory '{}'", memory.name)};
    entry.require(memory.node.index() < d.nodes.size() && d.nodes[memory.node.index()].kind == memory.kind &&
                      d.nodes[memory.node.index()].name == memory.name,
                  "its node does not match; expected a node of the same name and kind");
    entry.require_in(TopologyLimits::capacity, memory.capacity, "capacity");
    for (const auto& watts : {memory.idle_watts, memory.busy_watts})
      entry.require_in(TopologyLimits::watts, watts, "watts");
    if (memory.idle_watts && memory.busy_watts)
      entry.require(*memory.busy_watts >= *memory.idle_watts,
                    "its busy watts are below its idle watts; expected at least as many");
    check_engines(entry, memory.engines);
    if (memory.kind != NodeKind::gpu) return;
    if (memory.kernels >= d.kernels.size()) {
      TopologyDefect defect{Table::memory, i, entry.what + ": it has no kernel times; expected a [kernels.*] table"};
      defect.of_structure = true;
      throw defect;
    }
    if (memory.idle_watts)
      for (const GemmCurve& curve : d.kernels[memory.kernels].gemm)
        entry.require(!curve.watts || !(*curve.watts < *memory.idle_watts),
                      "its kernels have a gemm of fewer watts than it draws idle; expected at least as many");
    entry.require_in(TopologyLimits::device, memory.device, "device");
    const auto [same, fresh] = devices.emplace(memory.device, memory.name);
    if (!fresh)
      entry.fail(
          fmt::format("device {} is also that of '{}'; expected a number of its own", memory.device, same->second));
  });
  if (!host)
    add_of_structure(defects, {Table::machine, 0, "there is no host memory; expected a memory of kind 'host'"});
}

void check_links(const Topology::Description& d, Defects& defects) {
  const auto names = link_names(d.nodes, d.links);
  each_entry(defects, d.links.size(), [&](std::size_t i) {
    const Link& link = d.links[i];
    const Entry entry{Table::link, i, fmt::format("link '{}'", names[i])};
    entry.require(link.from != link.to, "it leads from a node to itself; expected two nodes");
    entry.require_in(TopologyLimits::rate, link.bandwidth, "bandwidth");
    entry.require_in(TopologyLimits::rate, link.per_flow, "per_flow");
    entry.require_in(TopologyLimits::latency, link.latency, "latency");
  });
}

void check_curve(const Entry& entry, const CapacityCurve& curve) {
  entry.require(!curve.points.empty(), "a curve has no points; expected at least one");
  entry.require_few(curve.points.size(), "a curve has");
  double last = 0;
  for (const auto& point : curve.points) {
    entry.require_in(TopologyLimits::rate, point.rate, "a rate of a curve");
    entry.require_in(TopologyLimits::copies, point.flows, "the number of copies of a curve");
    entry.require(point.flows > last, "the numbers of copies do not ascend; expected ascending numbers");
    last = point.flows;
  }
}

void check_groups(const Topology::Description& d, Defects& defects) {
  std::unordered_set<std::string> names;
  each_entry(defects, d.groups.size(), [&](std::size_t i) {
    const CapacityGroup& group = d.groups[i];
    const Entry entry{Table::group, i, fmt::format("group '{}'", group.name)};
    entry.require_name(group.name);
    if (!names.insert(group.name).second) entry.fail("there is another group of that name; expected unique names");
    entry.require(group.capacity || group.both_busy, "it bounds nothing; expected 'capacity' or 'both_busy'");
    for (const auto* curve : {&group.capacity, &group.both_busy})
      if (*curve) check_curve(entry, **curve);
    entry.require(!group.forward.empty(), "it has no forward links; expected at least one");
    entry.require(!group.both_busy || !group.backward.empty(), "'both_busy' needs 'backward' links; expected some");
    entry.require_in(TopologyLimits::forward_share, group.forward_share, "forward_share");
    entry.require(!group.forward_share || group.both_busy, "'forward_share' is without 'both_busy'; expected both");
    std::set<LinkId> seen;
    for (const auto* links : {&group.forward, &group.backward})
      for (LinkId link : *links) {
        entry.require(link.index() < d.links.size(), "it names a link that is missing");
        if (!seen.insert(link).second)
          entry.fail(
              fmt::format("link '{}' is listed twice; expected it once", link_names(d.nodes, d.links)[link.index()]));
      }
  });
}

void check_strided(const Entry& copies, const std::vector<StridedEfficiency::Point>& points) {
  copies.require_few(points.size(), "a curve has");
  Bytes last{0}, pitch{0};
  for (const auto& point : points) {
    if (point.pitch > pitch && &point != points.data()) last = Bytes{0};
    copies.require(&point == points.data() || point.pitch >= pitch,
                   "the pitches do not ascend; expected ascending pitches");
    copies.require(&point == points.data() || (point.pitch > Bytes{0}) == (pitch > Bytes{0}),
                   "some points have a pitch and some have none; expected one or the other");
    copies.require_in(TopologyLimits::column, point.column, "a column size");
    if (point.pitch != Bytes{0}) copies.require_in(TopologyLimits::column, point.pitch, "a pitch");
    copies.require(point.column > last, "the column sizes do not ascend; expected ascending sizes");
    copies.require_in(TopologyLimits::efficiency, point.efficiency, "efficiency");
    last = point.column, pitch = point.pitch;
  }
}

void check_copies(const Topology::Description& d) {
  const Entry copies{Table::copies, 0, "copies"};
  for (const auto* points : {&d.strided.points, &d.strided.again, &d.strided.back, &d.strided.peer})
    check_strided(copies, *points);
  copies.require(
      !d.strided.points.empty() || (d.strided.again.empty() && d.strided.back.empty() && d.strided.peer.empty()),
      "'strided_efficiency' is missing next to its other curves; expected it");
  copies.require(d.strided.again.empty() == (d.strided.cache == Bytes{0}),
                 "'strided_efficiency_again' and 'page_cache' have to be given together");
  if (d.strided.cache != Bytes{0}) copies.require_in(TopologyLimits::capacity, d.strided.cache, "page_cache");
  if (d.strided.border != Bytes{0}) copies.require_in(TopologyLimits::column, d.strided.border, "strided_border");
  copies.require_in(TopologyLimits::factor, d.strided.beside, "strided_beside");
  copies.require_in(TopologyLimits::share_of_lines, d.strided.forgotten, "strided_forgotten");
}

void check_issue(const Topology::Description& d) {
  const Entry issue{Table::issue, 0, "issue"};
  issue.require_in(TopologyLimits::latency, d.issue.per_op, "per_op");
  issue.require_in(TopologyLimits::latency, d.issue.per_kernel, "per_kernel");
  issue.require_in(TopologyLimits::latency, d.issue.per_call, "per_call");
  issue.require_in(TopologyLimits::latency, d.issue.per_dependency, "per_dependency");
  issue.require_in(TopologyLimits::latency, d.issue.hand_on, "hand_on");
  if (!d.issue.graph) return;
  issue.require_in(TopologyLimits::latency, d.issue.graph->per_call, "graph.per_call");
  issue.require_in(TopologyLimits::latency, d.issue.graph->per_copy, "graph.per_copy");
  issue.require_in(TopologyLimits::latency, d.issue.graph->per_kernel, "graph.per_kernel");
  issue.require_in(TopologyLimits::latency, d.issue.graph->per_dependency, "graph.per_dependency");
  issue.require_in(TopologyLimits::latency, d.issue.graph->between_gpus, "graph.between_gpus");
}

void check_uncertainty(const Topology::Description& d) {
  if (!d.uncertainty) return;
  const Entry entry{Table::uncertainty, 0, "uncertainty"};
  std::set<DType> types;
  const auto check = [&](double half_width) {
    entry.require_in(TopologyLimits::uncertainty, half_width, "a half width");
  };
  for (const auto& [dtype, measured_shapes, other_shapes] : d.uncertainty->kernels) {
    check(measured_shapes), check(other_shapes);
    entry.require(types.insert(dtype).second, "a data type is there twice; expected each once");
  }
  for (const double half_width :
       {d.uncertainty->load, d.uncertainty->copies, d.uncertainty->columns, d.uncertainty->issue})
    check(half_width);
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && letters_in(text) <= TopologyLimits::name_length && !first_bad_byte(text) &&
         std::none_of(text.begin(), text.end(), is_control);
}

std::vector<std::string> link_names(const std::vector<Node>& nodes, const std::vector<Link>& links) {
  std::vector<std::string> names;
  std::map<std::pair<NodeId, NodeId>, int> count;
  for (const Link& link : links) {
    const int number = ++count[{link.from, link.to}];
    names.push_back(nodes[link.from.index()].name + "->" + nodes[link.to.index()].name);
    if (number > 1) names.back().append("#").append(std::to_string(number));
  }
  return names;
}

std::vector<TopologyDefect> defects_of(const Topology::Description& description) {
  Defects defects;
  catch_defect(defects, [&] { check_limits(description); });
  if (!defects.empty()) return defects;
  check_nodes(description, defects);
  check_kernels(description, defects);
  check_memories(description, defects);
  check_links(description, defects);
  check_groups(description, defects);
  check_routes(description, defects);
  catch_defect(defects, [&] { check_copies(description); });
  catch_defect(defects, [&] { check_issue(description); });
  catch_defect(defects, [&] { check_uncertainty(description); });
  if (defects.empty()) check_parts(description, defects);
  if (defects.empty()) check_reachable(description, defects);
  return defects;
}

void check_description(const Topology::Description& description) {
  const auto defects = defects_of(description);
  if (!defects.empty()) throw defects.front();
}

}  // namespace tilerail
