#include "cli/output/machine_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "cli/output/issue_text.hpp"
#include "cli/output/machine_facts_text.hpp"
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
  for (const std::int64_t side : {512, 2048, 8192}) {
    const double flops = 2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side);
    text += rate(static_cast<double>(side), Flops{flops} / kernels.gemm_time(side, side, side, curve.dtype, ta, tb));
  }
  return text;
}

/// Lines below the rates of a type.
std::string sustained_text(const GemmCurve& curve) {
  std::string text;
  for (const auto& point : curve.sustained)
    text += fmt::format("  {:.4g}% busy: x {:g}", 100 * point.duty, point.factor);
  return text.empty() ? "" : "      times under load" + text + "\n";
}
std::string alignment_text(const GemmCurve& curve) {
  std::string text;
  for (const auto& point : curve.alignment) text += fmt::format("  {:g} B: x {:g}", point.bytes, point.factor);
  return text.empty() ? "" : "      times where columns are multiples of" + text + "\n";
}

std::string kernels_text(const Topology& topology) {
  std::string text = "\nKernels (FLOP/s of square GEMMs by size)\n";
  for (const KernelTimes& kernels : topology.description().kernels) {
    text += fmt::format("  {} [{}]: launch {}, {:g} multiprocessors, block {:g} x {:g}, memory {}\n", kernels.name,
                        kernels.source, seconds_text(kernels.launch.value), kernels.multiprocessors, kernels.block_m,
                        kernels.block_n, kernels.memory_bandwidth ? text_of(*kernels.memory_bandwidth) : "-");
    for (const GemmCurve& curve : kernels.gemm)
      text += fmt::format("    gemm {} {}{}{}\n{}{}", to_string(curve.dtype), curve.trans.empty() ? "any" : curve.trans,
                          rates_text(kernels, curve), curve.watts ? "  at " + watts_text(curve.watts) : "",
                          sustained_text(curve), alignment_text(curve));
  }
  return text;
}

/// One row a pitch, one column a size of columns.
std::string strided_text(const std::string& where, const std::vector<StridedEfficiency::Point>& points) {
  if (points.empty()) return "";
  std::map<Bytes, std::map<Bytes, std::string>> rows;
  std::set<Bytes> columns;
  for (const auto& point : points) {
    rows[point.pitch][point.column] = fmt::format("{:g}", point.efficiency);
    columns.insert(point.column);
  }
  Lines lines{{"pitch \\ column"}};
  for (const Bytes column : columns) lines.front().push_back(bytes_text(column.value));
  for (auto& [pitch, cells] : rows) {
    lines.push_back({pitch.value == 0 ? "any" : bytes_text(pitch.value)});
    for (const Bytes column : columns) lines.back().push_back(cells.contains(column) ? cells[column] : "-");
  }
  return fmt::format("\nRate of a 2-D copy, relative to packed{}\n", where) + aligned(lines, "lr", 2);
}

std::string costs_text(const Topology& topology) {
  std::string text = issue_text(topology.description().issue);
  const StridedEfficiency& strided = topology.description().strided;
  text += strided_text("", strided.points);
  if (strided.beside > 1)
    text += fmt::format("  beside kernels and copies the other way, finding pages takes {:.4g} times as long\n",
                        strided.beside);
  if (strided.forgotten > 0)
    text +=
        fmt::format("  beside kernels, columns of one copy forget {:.3g}% of what they know of each other's pages\n",
                    100 * strided.forgotten);
  text += strided_text(fmt::format(", of pages that the cache of the device knows until kernels fill {} of it",
                                   bytes_text(strided.cache.value)),
                       strided.again);
  return text + strided_text(", from a device to a host", strided.back) +
         strided_text(", between devices", strided.peer);
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
    lines.push_back({source.key, kinds[static_cast<int>(source.kind)], source.text});
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
  for (std::size_t i = 0; i < topology.memories().size(); ++i)
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

std::string all_peers_text(const Topology& topology) {
  Flows flows;
  for (MemoryId src : topology.gpus()) {
    for (MemoryId dst : topology.gpus()) {
      if (src != dst && topology.has_route(src, dst)) flows.emplace_back(src, dst);
    }
  }
  if (flows.empty()) return "";
  const auto rates = concurrent_rates(topology, flows);
  Rate total{0};
  for (Rate rate : rates) total += rate;
  const auto cell_of = [&](MemoryId src, MemoryId dst) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (flows[i] == std::pair{src, dst}) return gigabytes(rates[i]);
    }
    return std::string{"-"};
  };
  return fmt::format("\nPair bandwidth, GB/s, all {} GPU pairs busy at once (total {})\n", flows.size(),
                     gigabytes(total)) +
         matrix(topology, topology.gpus(), cell_of);
}

/// A row of what each GPU gets from (or to) one host domain while all of them copy.
std::string host_text(const Topology& topology, MemoryId host) {
  Lines lines{{"copies"}};
  for (MemoryId gpu : topology.gpus()) lines.front().push_back(topology.memory(gpu).name);
  lines.front().push_back("total");
  const auto add_rows = [&](bool in, bool out, const std::string& in_name, const std::string& out_name) {
    Flows flows;
    for (MemoryId gpu : topology.gpus()) {
      if (in) flows.emplace_back(host, gpu);
    }
    for (MemoryId gpu : topology.gpus()) {
      if (out) flows.emplace_back(gpu, host);
    }
    const auto rates = concurrent_rates(topology, flows);
    for (std::size_t begin = 0; begin < rates.size(); begin += topology.gpus().size()) {
      std::vector<std::string> row{begin == 0 && in ? in_name : out_name};
      Rate total{0};
      for (std::size_t i = begin; i < begin + topology.gpus().size(); ++i) {
        row.push_back(gigabytes(rates[i]));
        total += rates[i];
      }
      row.push_back(gigabytes(total));
      lines.push_back(std::move(row));
    }
  };
  add_rows(true, false, "all h2d", "");
  add_rows(false, true, "", "all d2h");
  add_rows(true, true, "both: h2d", "both: d2h");
  return fmt::format("\nBandwidth, GB/s, between '{}' and all GPUs at once\n", topology.memory(host).name) +
         aligned(lines, "lr", 2);
}

}  // namespace

std::string describe(const Topology& topology) {
  const auto& description = topology.description();
  std::string text = fmt::format("{}: {}\n", description.name, description.description);
  text += memories_text(topology) + links_text(topology) + groups_text(topology) + kernels_text(topology);
  text += costs_text(topology) + uncertainty_text(description.uncertainty);
  if (topology.description().memories.size() > most_in_tables)
    return text +
           fmt::format("\nTables of bandwidth are left out: {} memories; they have at most {}\n",
                       topology.description().memories.size(), most_in_tables) +
           facts_text(topology) + sources_text(topology);
  text += alone_text(topology) + all_peers_text(topology);
  for (MemoryId host : places_of_hosts(topology)) {
    bool reaches_all = true;
    for (MemoryId gpu : topology.gpus()) {
      reaches_all = reaches_all && topology.has_route(host, gpu) && topology.has_route(gpu, host);
    }
    if (reaches_all && !topology.gpus().empty()) text += host_text(topology, host);
  }
  return text + facts_text(topology) + sources_text(topology);
}

}  // namespace tilerail::cli
