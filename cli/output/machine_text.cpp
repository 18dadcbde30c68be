#include "cli/output/machine_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "model/machine/figures.hpp"
#include "model/machine/machine_facts.hpp"

namespace tilerail::cli {
namespace {

std::string text_of(Rate rate) { return bytes_text(rate.value) + "/s"; }
std::string text_of(FlopRate rate) {
  return fmt::format("{:.4g} TFLOP/s", rate.value / 1e12);
}
std::string gigabytes(Rate rate) { return fmt::format("{:.1f}", rate.value / 1e9); }
std::string or_dash(const std::optional<int>& limit) {
  return limit ? std::to_string(*limit) : "-";
}

std::string watts_cell(std::optional<Watts> watts) {
  return watts ? fmt::format("{:.4g} W", watts->value) : "-";
}

std::string curve_text(const std::optional<CapacityCurve>& curve) {
  if (!curve) return "-";
  if (curve->points.size() == 1) return text_of(curve->points.front().rate);
  std::vector<std::string> parts;
  for (const auto& point : curve->points)
    parts.push_back(fmt::format("{:g}: {}", point.flows, text_of(point.rate)));
  return boost::join(parts, ", ");
}

std::string link_names(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<std::string> names;
  for (LinkId id : links) names.push_back(topology.link(id).name);
  return names.empty() ? "-" : boost::join(names, " ");
}

std::string memories_text(const Topology& topology) {
  Lines lines{{"memory", "capacity", "kernels", "h2d", "d2h", "peer", "total", "idle",
               "busy", "source"}};
  for (const Memory& memory : topology.description().memories) {
    const Processor processor = memory.processor.value_or(Processor{});
    const Engines& engines = processor.engines;
    lines.push_back(
        {memory.name, memory.capacity ? bytes_text(memory.capacity->value) : "unbounded",
         memory.processor ? topology.description().kernels[processor.kernels].name : "-",
         or_dash(engines.h2d), or_dash(engines.d2h), or_dash(engines.peer),
         or_dash(engines.total), watts_cell(processor.idle_watts),
         watts_cell(processor.busy_watts), memory.source});
  }
  return "\nMemories (copy engines by role: simultaneous copies, - for no limit)\n" +
         aligned(lines, "lrlrrrrrrl", 2);
}

std::string nodes_text(const Topology& topology) {
  if (topology.nodes().empty()) return "";
  Lines lines{{"node", "memories", "network interfaces", "source"}};
  for (const Node& node : topology.nodes()) {
    std::vector<std::string> memories, nics;
    for (const MemoryId id : node.memories) memories.push_back(topology.memory(id).name);
    for (const VertexId id : node.nics)
      nics.push_back(topology.description().vertices[id.index()].name);
    lines.push_back(
        {node.name, boost::join(memories, " "), boost::join(nics, " "), node.source});
  }
  return "\nNodes, one rank each\n" + aligned(lines, "llll", 2);
}

std::string links_text(const Topology& topology) {
  Lines lines{{"link", "bandwidth", "latency", "a copy alone", "source"}};
  for (const Link& link : topology.links()) {
    lines.push_back({link.name, text_of(link.bandwidth), seconds_text(link.latency.value),
                     link.per_flow ? text_of(*link.per_flow) : "-", link.source});
  }
  return "\nLinks, one direction each\n" + aligned(lines, "lrrrl", 2);
}

std::string groups_text(const Topology& topology) {
  if (topology.groups().empty()) return "";
  std::string text = "\nCapacity groups (bound of the sum; N: if N copies share it)\n";
  for (const CapacityGroup& group : topology.groups()) {
    text += fmt::format(
        "  {} [{}]\n    capacity {}; both directions busy {}{}\n    forward  {}\n",
        group.name, group.source, curve_text(group.capacity), curve_text(group.both_busy),
        group.forward_share
            ? fmt::format(", {:.0f}% of it forward", 100 * *group.forward_share)
            : "",
        link_names(topology, group.forward));
    if (!group.backward.empty())
      text += fmt::format("    backward {}\n", link_names(topology, group.backward));
  }
  return text;
}

/// The rates of some square GEMMs.
std::string rates_text(const KernelTimes& kernels, const GemmCurve& curve) {
  const bool any = curve.trans.empty();
  const Trans ta = any ? Trans::no : trans_from_string(curve.trans.substr(0, 1), "trans");
  const Trans tb = any ? Trans::no : trans_from_string(curve.trans.substr(1, 1), "trans");
  std::string text;
  for (const int64_t side : {512, 2048, 8192}) {
    const Flops flops{2.0 * double(side) * double(side) * double(side)};
    const FlopRate rate =
        flops / kernels.gemm_time(side, side, side, curve.dtype, ta, tb);
    text += fmt::format("  {}: {}", side, text_of(rate));
  }
  return text;
}

std::string kernels_text(const Topology& topology) {
  std::string text = "\nKernels (FLOP/s of square GEMMs by size)\n";
  for (const KernelTimes& kernels : topology.description().kernels) {
    text += fmt::format(
        "  {} [{}]: launch {}, {:g} multiprocessors, block {:g} x {:g}, memory {}\n",
        kernels.name, kernels.source, seconds_text(kernels.launch.value),
        kernels.multiprocessors, kernels.block_m, kernels.block_n,
        kernels.memory_bandwidth ? text_of(*kernels.memory_bandwidth) : "-");
    for (const GemmCurve& curve : kernels.gemm)
      text += fmt::format("    gemm {} {}{}{}\n", to_string(curve.dtype),
                          curve.trans.empty() ? "any" : curve.trans,
                          rates_text(kernels, curve),
                          curve.watts ? "  at " + watts_cell(curve.watts) : "");
  }
  return text;
}

/// The nonzero submission overheads.
std::string issue_text(const IssueCost& issue) {
  Lines lines;
  const auto add = [&](const char* what, Seconds time) {
    if (time > Seconds{0}) lines.push_back({what, seconds_text(time.value)});
  };
  add("an operation", issue.per_op);
  add("a kernel", issue.per_kernel.value_or(Seconds{0}));
  add("a dependency", issue.per_dependency);
  add("a call", issue.per_call);
  add("an event after a copy, and before a copy", issue.hand_on);
  if (const auto& graph = issue.graph) {
    add("as one graph, a call", graph->per_call);
    add("as one graph, a copy between memories", graph->per_copy);
    add("as one graph, a kernel", graph->per_kernel);
    add("as one graph, a dependency", graph->per_dependency);
    add("as one graph, an event between GPUs", graph->between_gpus);
  }
  return lines.empty() ? "" : "\nIssue cost\n" + aligned(lines, "lr", 2);
}

std::string sources_text(const Topology& topology) {
  Lines lines{{"source", "kind", "text"}};
  for (const Source& source : topology.description().sources) {
    lines.push_back(
        {source.key, std::string{source_kinds[size_t(source.kind)]}, source.text});
  }
  return "\nProvenance\n" + aligned(lines, "l", 2);
}

/// One row per source, one column per destination: GPUs and hosts, with all hosts as a
/// single place if the machine has one.
std::string pairs_text(const Topology& topology) {
  std::vector<MemoryId> memories = topology.hosts();
  for (const auto i : indices(topology.memories()))
    if (!topology.memories()[i].over.empty()) memories.push_back(MemoryId{i});
  memories.insert(memories.end(), topology.gpus().begin(), topology.gpus().end());
  Lines lines{{"from \\ to"}};
  for (const MemoryId dst : memories) lines.front().push_back(topology.memory(dst).name);
  for (const MemoryId src : memories) {
    lines.push_back({topology.memory(src).name});
    for (const MemoryId dst : memories) {
      const bool has_rate = src != dst && topology.has_route(src, dst);
      lines.back().push_back(has_rate ? gigabytes(topology.pair_rate(src, dst)) : "-");
    }
  }
  return "\nPair bandwidth, GB/s, one copy alone\n" + aligned(lines, "lr", 2);
}

std::string path_text(const Topology& topology, MemoryId src, MemoryId dst) {
  std::vector<std::string> paths;
  const auto add = [&](std::span<const LinkId> links, int share) {
    paths.push_back(share > 1 ? fmt::format("{} parts ", share) : "");
    paths.back() += topology.memory(src).name;
    for (const LinkId link : links)
      paths.back() +=
          " " + topology.description().vertices[topology.link(link).to.index()].name;
  };
  for (const Topology::RouteShare& each : topology.route_shares(src, dst))
    add(each.links, each.share);
  if (paths.empty()) add(topology.route(src, dst), 1);
  return boost::join(paths, " and ");
}

/// One line for routes that differ only in their ends, with the first of them.
std::string routes_text(const Topology& topology) {
  struct Kind {
    size_t pairs = 0;
    std::string example;
  };
  std::map<std::tuple<std::string, size_t, Seconds, Rate>, Kind> kinds;
  const auto side = [&](MemoryId id) { return topology.is_host(id) ? "host" : "GPU"; };
  for (const auto s : indices(topology.description().memories))
    for (const auto d : indices(topology.description().memories)) {
      const MemoryId src{s}, dst{d};
      if (s == d || !topology.has_route(src, dst)) continue;
      Kind& kind = kinds[{fmt::format("{} to {}", side(src), side(dst)),
                          topology.route(src, dst).size(), topology.latency(src, dst),
                          topology.pair_rate(src, dst)}];
      if (kind.pairs++ == 0) kind.example = path_text(topology, src, dst);
    }
  Lines lines{{"routes", "pairs", "links", "latency", "GB/s", "such as"}};
  for (const auto& [key, kind] : kinds) {
    const auto& [ends, links, latency, rate] = key;
    lines.push_back({ends, std::to_string(kind.pairs), std::to_string(links),
                     seconds_text(latency.value), gigabytes(rate), kind.example});
  }
  return "\nRoutes by length, latency and bandwidth of one copy alone\n" +
         aligned(lines, "lrrrrl", 2);
}

/// Adjacent GPUs with equal figures share a line.
std::string nearest_text(const Topology& topology) {
  const std::vector<NearestHost> all = nearest_hosts(topology);
  if (all.empty()) return "";
  Lines lines{{"GPU", "nearest host", "h2d", "d2h", "all: h2d", "d2h",
               "all, both ways: h2d", "d2h"}};
  std::string first;
  for (const NearestHost& each : all) {
    const std::string gpu = topology.memory(each.gpu).name;
    std::vector<std::string> line{gpu, topology.memory(each.host).name};
    for (const Rate rate : {each.in_alone, each.out_alone, each.in_all, each.out_all,
                            each.in_all_both, each.out_all_both})
      line.push_back(gigabytes(rate));
    const bool same = lines.size() > 1 &&
                      std::equal(line.begin() + 1, line.end(), lines.back().begin() + 1);
    if (same)
      lines.back().front() = fmt::format("{} to {}", first, gpu);
    else
      first = gpu, lines.push_back(line);
  }
  return "\nEach GPU with its nearest host, GB/s: one copy alone, and copies of all "
         "GPUs\n" +
         aligned(lines, "llr", 2);
}

std::string bisection_text(const Topology& topology) {
  const auto cut = bisection(topology);
  if (!cut) return "";
  return fmt::format(
      "\nBisection: the first {} GPUs, each with its partner among the last {}: {} GB/s "
      "forward, {} backward, {} both "
      "ways\n",
      cut->pairs, cut->pairs, gigabytes(cut->forward), gigabytes(cut->backward),
      gigabytes(cut->both));
}

}  // namespace

std::string describe(const Topology& topology) {
  const auto& description = topology.description();
  std::string text = fmt::format("{}: {}\n", description.name, description.description);
  text += memories_text(topology) + nodes_text(topology) + links_text(topology) +
          groups_text(topology) + kernels_text(topology);
  text += issue_text(description.issue);
  if (description.memories.size() <= most_in_tables)
    text += pairs_text(topology) + routes_text(topology);
  return text + nearest_text(topology) + bisection_text(topology) +
         sources_text(topology);
}

std::string brief_text(const Topology& topology) {
  const auto counted = [](size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::set<std::string> kernels;
  for (const MemoryId gpu : topology.gpus())
    kernels.insert(topology.kernels_of(gpu).name);
  return fmt::format("{}, {} with kernels {}: {}",
                     counted(topology.hosts().size(), "host"),
                     counted(topology.gpus().size(), "GPU"), fmt::join(kernels, ", "),
                     topology.description().description);
}

}  // namespace tilerail::cli
