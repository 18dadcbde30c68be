#include "model/machine/topology_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "model/base/contains.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/figures.hpp"
#include "model/machine/shortest_paths.hpp"

namespace tilerail {

namespace {

using F = MachineFigures;
using Description = Topology::Description;
using NameSet = std::unordered_set<std::string>;

/// A table entry under check, and its name in errors.
struct Entry {
  std::string_view table;
  size_t index;
  std::string what = {};  // "link 'a->b'"

  [[noreturn]] void fail(std::string_view problem, std::string_view expected) const {
    fail(fault_of("", problem, expected));
  }
  [[noreturn]] void fail(const InputError& error) const {
    throw TopologyDefect{table, index, error.within(what)};
  }
  void require(bool holds, std::string_view problem, std::string_view expected) const {
    if (!holds) fail(problem, expected);
  }
};

/// Calls check(entry, item) for each named entry of a table.
template <class Items, class Check>
void each_entry(std::string_view table, const Items& items, const Check& check) {
  for (const auto i : indices(items))
    check(Entry{table, i, fmt::format("{} '{}'", table, items[i].name)}, items[i]);
}

void check_name(const Entry& entry, const std::string& name, NameSet& names) {
  entry.require(is_name(name), "its name is not allowed", expected_name);
  entry.require(names.insert(name).second, "another one has this name", "unique names");
}

template <class Part, class Figures>
void check_figures(const Entry& entry, const std::string& prefix, const Part& part,
                   const Figures& figures);

/// Checks the range of one figure; `key` includes the keys of enclosing tables.
template <class Member, class Quantity, class Value>
void check_figure(const Entry& entry, const std::string& key,
                  const Figure<Member, Quantity>& figure, Value value) {
  if (!figure.range.holds(value))
    entry.fail(out_of_range(key, to_text(value), figure.range.text));
}

template <class Value>
void require_above(const Entry& entry, const std::string& key, Value value, Value last) {
  if (!(value > last))
    entry.fail({key, to_text(value), "does not ascend", "above " + to_text(last)});
}

template <class Member, class Columns, class Value>
void check_figure(const Entry& entry, const std::string& key,
                  const Rows<Member, Columns>& rows, const Value& value) {
  const std::string inside = key + ": ";
  if constexpr (requires { value.front(); }) {
    if (value.empty() || value.size() > F::points)
      entry.fail(fault_of(key, fmt::format("has {} entries", value.size()),
                          fmt::format("1 to {}", F::points)));
    const auto& first = std::get<0>(rows.columns);
    for (const auto i : indices(value)) {
      check_figures(entry, inside, value[i], rows.columns);
      if (rows.ascend && i > 0)
        require_above(entry, inside + std::string{first.key}, value[i].*first.member,
                      value[i - 1].*first.member);
    }
  } else {
    check_figures(entry, inside, value, rows.columns);
  }
}

template <class Member, class Figures, class Value>
void check_figure(const Entry& entry, const std::string& key,
                  const Group<Member, Figures>& group, const Value& value) {
  check_figures(entry, group.key.empty() ? key : key + ".", value, group.figures);
}

template <class Part, class Figures>
void check_figures(const Entry& entry, const std::string& prefix, const Part& part,
                   const Figures& figures) {
  for_each_there(part, figures, [&](const auto& figure, const auto& value) {
    check_figure(entry, std::string{prefix}.append(figure.key), figure, value);
  });
}

void check_limits(const Description& d) {
  const std::tuple<const char*, size_t, size_t> limits[] = {
      {"memories", d.memories.size(), F::memories},
      {"vertices", d.vertices.size(), F::vertices},
      {"links", d.links.size(), F::links},
      {"groups", d.groups.size(), F::groups},
      {"routes", d.routes.size(), F::routes}};
  for (const auto& [what, count, most] : limits)
    if (count > most)
      throw TopologyDefect{
          "", 0,
          out_of_range(what, fmt::to_string(count), fmt::format("at most {}", most))};
}

void check_vertices(const Description& d) {
  // Vertex names are used in "a->b#2", "A:B:C" and comma-separated lists.
  constexpr const char* allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  NameSet names;
  each_entry("memory or switch", d.vertices,
             [&](const Entry& entry, const Vertex& vertex) {
               check_name(entry, vertex.name, names);
               entry.require(vertex.name.find_first_not_of(allowed) == std::string::npos,
                             "its name has a character that is not allowed",
                             "letters, digits, '_', '-' and '.'");
             });
}

void check_gemm(const Entry& entry, const KernelTimes& kernels, const GemmCurve& curve) {
  const std::string prefix =
      fmt::format("gemm {}{}: ", to_string(curve.dtype), curve.trans);
  if (!curve.trans.empty() && !contains(trans_pairs, curve.trans))
    entry.fail({prefix + "trans", curve.trans, "is unknown", "NN, NT, TN or TT"});
  check_figures(entry, prefix, curve, F::of_gemms);
  if (!curve.tiled) return check_figure(entry, prefix + "rates", F::rates, curve.points);
  entry.require(kernels.memory_bandwidth.has_value(),
                prefix + "a tiled gemm needs the memory bandwidth", "memory_bandwidth");
}

void check_kernels(const Description& d) {
  NameSet names;
  each_entry("kernels", d.kernels, [&](const Entry& entry, const KernelTimes& kernels) {
    check_name(entry, kernels.name, names);
    check_figures(entry, "", kernels, F::of_kernels);
    std::set<std::pair<DType, std::string>> curves;
    for (const GemmCurve& curve : kernels.gemm) {
      check_gemm(entry, kernels, curve);
      if (!curves.emplace(curve.dtype, curve.trans).second)
        entry.fail(fmt::format("two gemm curves for {} '{}'", to_string(curve.dtype),
                               curve.trans),
                   "one");
    }
  });
}

void check_memories(const Description& d) {
  std::map<int, std::string> devices;
  each_entry("memory", d.memories, [&](const Entry& entry, const Memory& memory) {
    check_figures(entry, "", memory, F::of_memories);
    const bool is_gpu = memory.kind == VertexKind::gpu;
    entry.require(!is_gpu || memory.processor, "it has no processor", "one");
    if (!memory.processor) return;
    const Processor& processor = *memory.processor;
    if (processor.busy_watts && *processor.busy_watts < processor.idle_watts)
      entry.fail({"busy watts", to_text(*processor.busy_watts), "is below the idle watts",
                  "at least " + to_text(*processor.idle_watts)});
    entry.require(processor.kernels < d.kernels.size(), "it has no kernel times",
                  "a [kernels.*] table");
    if (!is_gpu) return;
    check_figure(entry, "device", F::of_device, processor.device);
    const auto [same, fresh] = devices.emplace(processor.device, memory.name);
    if (!fresh)
      entry.fail({"device", fmt::to_string(processor.device),
                  fmt::format("also belongs to '{}'", same->second),
                  "a number of its own"});
  });
  if (std::ranges::find(d.memories, VertexKind::host, &Memory::kind) == d.memories.end())
    Entry{"", 0, "machine"}.fail("no host memory", "a memory of kind 'host'");
}

/// Each memory is in one node, and NICs are switches.
void check_nodes(const Description& d) {
  NameSet names;
  std::set<MemoryId> known;
  each_entry("node", d.nodes, [&](const Entry& entry, const Node& node) {
    check_name(entry, node.name, names);
    for (const MemoryId id : node.memories)
      if (!known.insert(id).second)
        entry.fail(given_twice("memories", d.memories[id.index()].name));
    for (const VertexId nic : node.nics)
      if (const Vertex& vertex = d.vertices[nic.index()];
          vertex.kind != VertexKind::network_switch)
        entry.fail({"nics", vertex.name, "is a memory", "switches"});
  });
  for (const auto i : indices(d.memories))
    if (!d.nodes.empty() && !known.contains(MemoryId{i}))
      Entry{"node", 0, "nodes"}.fail(
          missing(d.memories[i].name, "each memory in a node"));
}

void check_links(const Description& d) {
  each_entry("link", d.links, [](const Entry& entry, const Link& link) {
    entry.require(link.from != link.to, "it leads from a memory or switch to itself",
                  "two ends");
    check_figures(entry, "", link, F::of_links);
  });
}

void check_groups(const Description& d) {
  NameSet names;
  each_entry("group", d.groups, [&](const Entry& entry, const CapacityGroup& group) {
    check_name(entry, group.name, names);
    entry.require(group.capacity || group.both_busy, "it bounds nothing",
                  "'capacity' or 'both_busy'");
    check_figures(entry, "", group, F::of_groups);
    entry.require(!group.forward.empty(), "it has no forward links", "at least one");
    entry.require(!group.both_busy || !group.backward.empty(),
                  "'both_busy' needs 'backward' links", "some");
    entry.require(!group.forward_share || group.both_busy,
                  "'forward_share' is without 'both_busy'", "both");
    std::set<LinkId> seen;
    for (const auto* links : {&group.forward, &group.backward})
      for (const LinkId link : *links)
        if (!seen.insert(link).second)
          entry.fail({"link", d.links[link.index()].name, "is listed twice", "it once"});
  });
}

/// Checks that pitches ascend, and the columns of each pitch.
void check_columns(const Entry& copies, std::string_view key,
                   const std::vector<StridedEfficiency::Point>& points) {
  const std::string where = fmt::format("'{}': ", key);
  for (size_t i = 1; i < points.size(); ++i) {
    const auto &last = points[i - 1], &point = points[i];
    copies.require((point.pitch > Bytes{0}) == (last.pitch > Bytes{0}),
                   where + "some points have a pitch and some have none",
                   "one or the other");
    if (point.pitch == last.pitch)
      require_above(copies, where + "column", point.column, last.column);
    else
      require_above(copies, where + "pitch", point.pitch, last.pitch);
  }
}

void check_copies(const Entry& copies, const StridedEfficiency& strided) {
  check_figures(copies, "", strided, F::of_copies);
  for_each(F::of_copies, [&](const auto& figure) {
    if constexpr (requires { figure.columns; })
      check_columns(copies, figure.key, strided.*figure.member);
  });
  copies.require(
      !strided.points.empty() ||
          (strided.again.empty() && strided.back.empty() && strided.peer.empty()),
      "'strided_efficiency' is missing next to its other curves", "it");
  copies.require(strided.again.empty() == (strided.cache == Bytes{0}),
                 "'strided_efficiency_again' and 'page_cache' have to be given together",
                 "");
}

void check_uncertainty(const Entry& entry, const Uncertainty& uncertainty) {
  check_figures(entry, "", uncertainty, F::of_uncertainty);
  for (const Uncertainty::Kernels& kernels : uncertainty.kernels)
    check_figures(entry, fmt::format("{}: ", to_string(kernels.dtype)), kernels,
                  F::of_kernel_uncertainty);
}

using Pair = std::pair<MemoryId, MemoryId>;

std::string pair_text(const Description& d, const char* what, Pair pair) {
  const auto& [from, to] = pair;
  return fmt::format("{} '{}' to '{}'", what, d.memories[from.index()].name,
                     d.memories[to.index()].name);
}

/// Checks that links lead from one memory to the other, through switches only.
void check_path(const Entry& entry, const Description& d,
                const Topology::Description::NamedRoute& route) {
  const auto fail = [&](const char* what, VertexId vertex, const std::string& expected) {
    entry.fail(fmt::format("{} '{}'", what, d.vertices[vertex.index()].name), expected);
  };
  const VertexId from = d.memories[route.from.index()].vertex;
  const Memory& to = d.memories[route.to.index()];
  VertexId at = from;
  for (const LinkId id : route.links) {
    const Link& link = d.links[id.index()];
    const Vertex& vertex = d.vertices[at.index()];
    if (at != from && vertex.kind != VertexKind::network_switch)
      fail("it passes through memory", at, "switches only");
    if (link.from != at)
      fail("it does not connect: its next link is from", link.from,
           fmt::format("one from '{}'", vertex.name));
    at = link.to;
  }
  if (at != to.vertex && !route.links.empty())
    fail("its last link ends at", at, fmt::format("'{}'", to.name));
}

void check_routes(const Description& d) {
  std::set<std::tuple<MemoryId, MemoryId, std::vector<LinkId>>> known;
  for (const auto i : indices(d.routes)) {
    const auto& route = d.routes[i];
    const Entry entry{"route", i, pair_text(d, "route", {route.from, route.to})};
    entry.require(route.from != route.to, "it leads from a memory to itself",
                  "two memories");
    entry.require(known.emplace(route.from, route.to, route.links).second,
                  "another route has the same links", "other links");
    check_figures(entry, "", route, F::of_routes);
    check_path(entry, d, route);
  }
}

/// Adds pairs with several shortest paths, which split their copies.
void add_paths(const Description& d, std::map<Pair, std::vector<int>>& shares) {
  ShortestPaths paths{d};
  for (const auto s : indices(d.memories))
    for (const auto t : indices(d.memories)) {
      const Pair pair{s, t};
      if (shares.contains(pair)) continue;
      const size_t ways = paths.all(pair.first, pair.second, F::ways + 1).size();
      if (ways > 1) shares[pair].assign(ways, 1);
    }
}

/// Limits the common multiple of the parts of all pairs, which solvers use as unit.
void check_parts(const Description& d) {
  std::map<Pair, std::vector<int>> shares;  // of the routes of a pair
  for (const auto& route : d.routes) {
    std::vector<int>& of_pair = shares[{route.from, route.to}];
    if (!route.links.empty()) of_pair.push_back(route.share);
  }
  if (d.split_paths) add_paths(d, shares);
  const auto hosts = std::ranges::count(d.memories, VertexKind::host, &Memory::kind);
  int64_t common = 1;
  for (const auto& [pair, of_pair] : shares) {
    if (of_pair.empty()) continue;
    const Entry entry{"", 0, pair_text(d, "copies from", pair)};
    if (of_pair.size() > F::ways)
      entry.fail(fmt::format("they have more than {} ways", F::ways),
                 fmt::format("at most {}", F::ways));
    const int divisor =
        std::accumulate(of_pair.begin(), of_pair.end(), 0, std::gcd<int, int>);
    const int parts = std::accumulate(of_pair.begin(), of_pair.end(), 0) / divisor;
    common = std::lcm(common, parts);
    const int64_t of_hosts = common > 1 ? common * hosts : 1;
    if (common > F::split_parts || of_hosts > F::split_parts_of_hosts)
      entry.fail(
          fmt::format("they are split into {} parts: with other pairs, the common "
                      "multiple is {}, and {} over the hosts",
                      parts, common, of_hosts),
          fmt::format("at most {} and {}", F::split_parts, F::split_parts_of_hosts));
  }
}

/// Every memory has a path from a host and, with all links reversed, to one.
void check_reachable(Description d) {
  std::vector<MemoryId> hosts;
  for (const auto i : indices(d.memories))
    if (d.memories[i].kind == VertexKind::host) hosts.push_back(MemoryId{i});
  for (const bool reversed : {false, true}) {
    ShortestPaths paths{d};
    each_entry("memory", d.memories, [&](const Entry& entry, const Memory& memory) {
      const bool is_joined = memory.kind == VertexKind::host ||
                             std::ranges::any_of(hosts, [&](MemoryId host) {
                               return !paths.all(host, MemoryId{entry.index}, 1).empty();
                             });
      entry.require(is_joined,
                    reversed ? "no path from it to a host" : "unreachable memory",
                    reversed ? "one" : "a path from a host to it");
    });
    for (Link& link : d.links) std::swap(link.from, link.to);
  }
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && letters_in(text) <= TopologyLimits::name_length &&
         !first_bad_byte(text) && std::ranges::none_of(text, is_control);
}

void name_links(Description& d) {
  std::map<std::pair<VertexId, VertexId>, int> count;
  for (Link& link : d.links) {
    const int number = ++count[{link.from, link.to}];
    link.name =
        d.vertices[link.from.index()].name + "->" + d.vertices[link.to.index()].name;
    if (number > 1) link.name += fmt::format("#{}", number);
  }
}

void check_description(const Description& d) {
  check_limits(d);
  check_vertices(d);
  check_kernels(d);
  check_memories(d);
  check_nodes(d);
  check_links(d);
  check_groups(d);
  check_routes(d);
  check_copies({"copies", 0, "copies"}, d.strided);
  check_figures({"issue", 0, "issue"}, "", d.issue, F::of_issue);
  if (d.uncertainty) check_uncertainty({"uncertainty", 0, "uncertainty"}, *d.uncertainty);
  check_parts(d);
  check_reachable(d);
}

}  // namespace tilerail
