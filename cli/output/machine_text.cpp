#include "cli/output/machine_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/output/machine_facts_text.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "model/machine/concurrent_rates.hpp"

namespace tilerail::cli {
namespace {

using Lines = std::vector<std::vector<std::string>>;
using Flows = std::vector<std::pair<MemoryId, MemoryId>>;

std::string text_of(Rate rate) { return bytes_text(rate.value) + "/s"; }
std::string text_of(FlopRate rate) { return fmt::format("{:.4g} TFLOP/s", rate.value / 1e12); }
std::string gigabytes(Rate rate) { return fmt::format("{:.1f}", rate.value / 1e9); }
std::string or_dash(const std::optional<int>& limit) { return limit ? std::to_string(*limit) : "-"; }

std::string watts_text(std::optional<Watts> watts) { return watts ? fmt::format("{:.4g} W", watts->value) : "-"; }

std::string curve_text(const std::optional<CapacityCurve>& curve) {
  if (!curve) return "-";
  if (curve->points.size() == 1) return text_of(curve->points.front().rate);
  std::vector<std::string> parts;
  for (const auto& point : curve->points) parts.push_back(fmt::format("{:g}: {}", point.flows, text_of(point.rate)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string link_names(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<std::string> names;
  for (LinkId id : links) names.push_back(topology.link(id).name);
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

std::string memories_text(const Topology& topology) {
  Lines lines{
      {"memory", "kind", "GPU", "capacity", "kernels", "h2d", "d2h", "peer", "total", "idle", "busy", "source"}};
  for (const Memory& memory : topology.description().memories) {
    const bool is_gpu = memory.kind == NodeKind::gpu;
    lines.push_back({memory.name, is_gpu ? "gpu" : "host", is_gpu ? std::to_string(memory.device) : "-",
                     memory.capacity ? bytes_text(memory.capacity->value) : "unbounded",
                     is_gpu ? topology.description().kernels[memory.kernels].name : "-", or_dash(memory.engines.h2d),
                     or_dash(memory.engines.d2h), or_dash(memory.engines.peer), or_dash(memory.engines.total),
                     watts_text(memory.idle_watts), watts_text(memory.busy_watts), memory.source});
  }
  std::string text =
      "\nMemories (copy engines a role: copies at once, - for no limit)\n" + aligned(lines, "llrrlrrrrrrl", 2);
  std::vector<std::string> switches;
  for (const Node& node : topology.description().nodes) {
    if (node.kind == NodeKind::network_switch) switches.push_back(node.name);
  }
  if (!switches.empty()) text += fmt::format("\nSwitches\n  {}\n", fmt::join(switches, " "));
  return text;
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
  std::string text = "\nCapacity groups (bound of the sum; N: when N copies share it)\n";
  for (const CapacityGroup& group : topology.groups()) {
    text += fmt::format("  {} [{}]\n    capacity {}; both directions busy {}{}\n    forward  {}\n", group.name,
                        group.source, curve_text(group.capacity), curve_text(group.both_busy),
                        group.forward_share ? fmt::format(", {:.0f}% of it forward", 100 * *group.forward_share) : "",
                        link_names(topology, group.forward));
    if (!group.backward.empty()) text += fmt::format("    backward {}\n", link_names(topology, group.backward));
  }
  return text;
}

/// Of curves by size, their points; of rules, what they give for some squares.
std::string rates_text(const KernelTimes& kernels, const GemmCurve& curve) {
  const auto rate = [](double size, FlopRate at) { return fmt::format("  {:g}: {}", size, text_of(at)); };
  std::string text;
  for (const auto& point : curve.points) text += rate(point.size, point.rate);
  if (!curve.tiled) return text;
  const bool any = curve.trans.empty();
  const Trans ta = any ? Trans::no : trans_from_string(curve.trans.substr(0, 1), "trans");
  const Trans tb = any ? Trans::no : trans_from_string(curve.trans.substr(1, 1), "trans");
  for (const int64_t side : {512, 2048, 8192}) {
    const double flops = 2.0 * double(side) * double(side) * double(side);
    text += rate(double(side), Flops{flops} / kernels.gemm_time(side, side, side, curve.dtype, ta, tb));
  }
  return text;
}

std::string kernels_text(const Topology& topology) {
  std::string text = "\nKernels (FLOP/s of square GEMMs by size)\n";
  for (const KernelTimes& kernels : topology.description().kernels) {
    text += fmt::format("  {} [{}]: launch {}, {:g} multiprocessors, block {:g} x {:g}, memory {}\n", kernels.name,
                        kernels.source, seconds_text(kernels.launch.value), kernels.multiprocessors, kernels.block_m,
                        kernels.block_n, kernels.memory_bandwidth ? text_of(*kernels.memory_bandwidth) : "-");
    for (const GemmCurve& curve : kernels.gemm)
      text += fmt::format("    gemm {} {}{}{}\n", to_string(curve.dtype), curve.trans.empty() ? "any" : curve.trans,
                          rates_text(kernels, curve), curve.watts ? "  at " + watts_text(curve.watts) : "");
  }
  return text;
}

/// The costs of submitting operations as text; empty if all costs are zero.
std::string issue_text(const IssueCost& issue) {
  std::string text;
  if (issue.per_op.value > 0 || issue.per_kernel || issue.per_dependency.value > 0 || issue.per_call.value > 0) {
    text +=
        fmt::format("\nIssue cost: {} an operation, {}{} a dependency, {} a call\n", seconds_text(issue.per_op.value),
                    issue.per_kernel ? seconds_text(issue.per_kernel->value) + " a kernel, " : "",
                    seconds_text(issue.per_dependency.value), seconds_text(issue.per_call.value));
  }
  if (issue.hand_on.value > 0)
    text += fmt::format("From a copy to what waits for it, and to a copy: {}\n", seconds_text(issue.hand_on.value));
  if (const auto& graph = issue.graph)
    text +=
        fmt::format("As one graph: {} a call, {} a copy between memories, {} a kernel, {} a dependency between them\n",
                    seconds_text(graph->per_call.value), seconds_text(graph->per_copy.value),
                    seconds_text(graph->per_kernel.value), seconds_text(graph->per_dependency.value));
  if (issue.graph && issue.graph->between_gpus.value > 0)
    text += fmt::format("In it, from one GPU to what waits on another: {}\n",
                        seconds_text(issue.graph->between_gpus.value));
  return text;
}

std::string uncertainty_text(const std::optional<Uncertainty>& uncertainty) {
  if (!uncertainty) return "";
  const auto within = [](double half_width) { return fmt::format("{:.3g}%", 100 * half_width); };
  std::string text = fmt::format("\nWithin what {:g}% of the measurements are of these figures [{}]\n",
                                 100 * Uncertainty::level, uncertainty->source);
  Lines lines;
  for (const auto& [dtype, measured_shapes, other_shapes] : uncertainty->kernels)
    lines.push_back({fmt::format("kernels {}", to_string(dtype)), within(measured_shapes),
                     other_shapes == measured_shapes ? "" : within(other_shapes) + " far from measured shapes"});
  for (const auto& [what, half_width] : {std::pair{"kernels under load, too", uncertainty->load},
                                         {"copies", uncertainty->copies},
                                         {"2-D copies, too", uncertainty->columns},
                                         {"issue", uncertainty->issue}})
    if (half_width > 0) lines.push_back({what, within(half_width), ""});
  return text + aligned(lines, "lrl", 2);
}

std::string sources_text(const Topology& topology) {
  constexpr const char* kinds[] = {"measured", "fitted", "published", "assumed"};
  Lines lines{{"source", "kind", "text"}};
  for (const Source& source : topology.description().sources) {
    lines.push_back({source.key, kinds[int(source.kind)], source.text});
  }
  return "\nProvenance\n" + aligned(lines, "l", 2);
}

/// One row a source, one column a destination, GB/s; `rate` gives the cell or "-".
template <class CellOf>
std::string matrix(const Topology& topology, const std::vector<MemoryId>& memories, CellOf cell_of) {
  Lines lines{{"from \\ to"}};
  for (MemoryId dst : memories) lines.front().push_back(topology.memory(dst).name);
  for (MemoryId src : memories) {
    std::vector<std::string> row{topology.memory(src).name};
    for (MemoryId dst : memories) row.push_back(src == dst ? "-" : cell_of(src, dst));
    lines.push_back(std::move(row));
  }
  return aligned(lines, "lr", 2);
}

/// The hosts and, where there are several, all of them as one place.
std::vector<MemoryId> places_of_hosts(const Topology& topology) {
  std::vector<MemoryId> places = topology.hosts();
  for (const auto i : indices(topology.memories()))
    if (topology.memories()[i].pages == Pages::interleaved) places.push_back(MemoryId{i});
  return places;
}

std::string alone_text(const Topology& topology) {
  std::vector<MemoryId> all = places_of_hosts(topology);
  all.insert(all.end(), topology.gpus().begin(), topology.gpus().end());
  return "\nPair bandwidth, GB/s, one copy alone\n" + matrix(topology, all, [&](MemoryId src, MemoryId dst) {
           return topology.has_route(src, dst) ? gigabytes(topology.pair_rate(src, dst)) : "-";
         });
}

/// A row of what each GPU gets from (or to) one host domain while all of them copy.
std::string host_text(const Topology& topology, MemoryId host) {
  Lines lines{{"copies"}};
  for (MemoryId gpu : topology.gpus()) lines.front().push_back(topology.memory(gpu).name);
  lines.front().push_back("total");
  const auto add_rows = [&](const std::vector<const char*>& names) {  // "... h2d" or "... d2h", all at once
    Flows flows;
    for (const std::string_view name : names)
      for (const MemoryId gpu : topology.gpus())
        flows.push_back(name.ends_with("h2d") ? std::pair{host, gpu} : std::pair{gpu, host});
    const auto rates = concurrent_rates(topology, flows);
    auto rate = rates.begin();
    for (const char* name : names) {
      std::vector<std::string> row{name};
      Rate total{0};
      for (size_t i = 0; i < topology.gpus().size(); ++i, ++rate) {
        row.push_back(gigabytes(*rate));
        total += *rate;
      }
      row.push_back(gigabytes(total));
      lines.push_back(std::move(row));
    }
  };
  add_rows({"all h2d"});
  add_rows({"all d2h"});
  add_rows({"both: h2d", "both: d2h"});
  return fmt::format("\nBandwidth, GB/s, between '{}' and all GPUs at once\n", topology.memory(host).name) +
         aligned(lines, "lr", 2);
}

}  // namespace

std::string describe(const Topology& topology) {
  const auto& description = topology.description();
  std::string text = fmt::format("{}: {}\n", description.name, description.description);
  text += memories_text(topology) + links_text(topology) + groups_text(topology) + kernels_text(topology);
  text += issue_text(topology.description().issue) + uncertainty_text(description.uncertainty);
  if (topology.description().memories.size() > most_in_tables)
    return text +
           fmt::format("\nTables of bandwidth are left out: {} memories; they have at most {}\n",
                       topology.description().memories.size(), most_in_tables) +
           facts_text(topology) + sources_text(topology);
  text += alone_text(topology);
  for (MemoryId host : places_of_hosts(topology)) {
    const bool reaches_all = std::ranges::all_of(
        topology.gpus(), [&](MemoryId gpu) { return topology.has_route(host, gpu) && topology.has_route(gpu, host); });
    if (reaches_all && !topology.gpus().empty()) text += host_text(topology, host);
  }
  return text + facts_text(topology) + sources_text(topology);
}

}  // namespace tilerail::cli
