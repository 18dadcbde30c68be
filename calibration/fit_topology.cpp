#include "calibration/fit_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "calibration/fit_parts.hpp"
#include "calibration/mean.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "model/machine/figures.hpp"

namespace tilerail {
namespace fit {

Transfers Context::runs(std::initializer_list<std::string_view> kinds) const {
  const auto runs_on = [&](std::string_view kind, HostPages on) {
    Transfers found;
    for (const TransferRun& run : measurements.transfers) {
      const bool of_host = std::ranges::any_of(
          run.flows, [](const auto& f) { return f.src == host || f.dst == host; });
      if (run.kind == kind && (!of_host || run.pages == on)) found.push_back(&run);
    }
    return found;
  };
  Transfers all;
  for (const std::string_view kind : kinds) {
    Transfers found = runs_on(kind, pages);
    if (found.empty())
      found = runs_on(kind, HostPages::spread);  // measured on one kind only
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

Transfers Context::pairs(const std::string& src, const std::string& dst) const {
  Transfers found;
  for (const TransferRun* run : runs({"pair"}))
    if (run->flows[0].src == src && run->flows[0].dst == dst) found.push_back(run);
  return found;
}

VertexId vertex_of(const Topology::Description& d, const std::string& name) {
  const auto vertex = std::ranges::find(d.vertices, name, &Vertex::name);
  return VertexId{size_t(vertex - d.vertices.begin())};
}

LinkId link_between(const Topology::Description& d, const std::string& from,
                    const std::string& to) {
  const auto link = std::ranges::find(
      d.links, std::pair{vertex_of(d, from), vertex_of(d, to)}, [](const Link& each) {
        return std::pair{each.from, each.to};
      });
  return LinkId{size_t(link - d.links.begin())};
}

/// Submission costs of one thread, and the cost of a call for all devices.
void fit_costs(Context& context) {
  const Measurements& m = context.measurements;
  Topology::Description& d = context.description;
  const auto cost = [&](std::initializer_list<const char*> names, bool all = false) {
    Mean mean;
    for (const std::string name : names) {
      int threads = 0;
      for (const IssueRun& run : m.issue)
        if (run.what == name && (threads == 0 || all == (run.threads > threads)))
          threads = run.threads;
      for (const IssueRun& run : m.issue)
        if (run.what == name && run.threads == threads) mean.add(run.seconds.mean);
    }
    return Seconds{mean.value()};
  };
  if (m.issue.empty()) return;
  // Copies within a device are as expensive to submit as kernels; copies between memories
  // may be cheaper.
  Seconds copy = cost({"copy", "2-D copy"});
  double between = 0;
  for (const LatencyRun& run : m.latencies)
    between += run.issued.mean / double(m.latencies.size());
  if (between > 0) copy = std::min(copy, Seconds{between});
  d.issue = {.per_op = copy,
             .per_kernel = cost({"gemm"}),
             .per_call = cost({"call"}, true),
             .per_dependency = cost({"record and wait"}),
             .hand_on = std::max(Seconds{0}, cost({"hand on"})),
             .source = "issue"};
  const GraphCost graph{cost({"graph call"}), cost({"graph copy"}),
                        cost({"graph kernel"}), cost({"graph dependency"}),
                        cost({"graph of GPUs"})};
  if (graph.per_call > Seconds{0}) d.issue.graph = graph;  // older files have none
}

}  // namespace fit

namespace {

/// The widest confidence intervals. Only single flows count among copies, because sharing
/// of an engine varies between runs.
struct WidestIntervals {
  double copies = 0, kernels = 0;

  explicit WidestIntervals(const Measurements& m) {
    for (const TransferRun& run : m.transfers)
      if (run.flows.size() == 1) copies = std::max(copies, run.total.half_width);
    for (const KernelRun& run : m.kernels)
      kernels = std::max(kernels, run.seconds.half_width);
  }
};

void add_memories(fit::Context& context) {
  const Measurements& m = context.measurements;
  Topology::Description& d = context.description;
  d.vertices.push_back({"host", VertexKind::host, "machine"});
  Memory host;
  host.name = "host", host.kind = VertexKind::host, host.vertex = VertexId{size_t{0}},
  host.source = "machine";
  host.capacity = Bytes{m.host_bytes};
  d.memories.push_back(host);
  for (const DeviceRecord& device : m.devices) {
    Memory gpu;
    gpu.name = device.name, gpu.vertex = VertexId{d.vertices.size()},
    gpu.source = "machine";
    gpu.processor.emplace().device = device.number;
    gpu.capacity = Bytes{device.memory_bytes};
    if (device.idle_watts > 0) gpu.processor->idle_watts = Watts{device.idle_watts};
    if (device.limit_watts > 0) gpu.processor->busy_watts = Watts{device.limit_watts};
    d.vertices.push_back({device.name, VertexKind::gpu, "machine"});
    d.memories.push_back(gpu);
  }
}

/// One kernel fills the cores, whatever its size. Times ascend with the size: noise is
/// evened out.
void add_cores(const Measurements& m, Topology::Description& d) {
  if (m.cores.empty()) return;
  KernelTimes kernels;
  kernels.name = kernels.source = "cores";
  kernels.multiprocessors = 1;
  kernels.block_m = kernels.block_n = TopologyLimits::block.most;
  double least = 0;
  for (const CoreRun& run : m.cores) {
    if (kernels.gemm.empty() || kernels.gemm.back().dtype != run.dtype) {
      GemmCurve& curve = kernels.gemm.emplace_back();
      curve.dtype = run.dtype, curve.source = "cores";
      least = 0;
    }
    least = std::max(least, run.seconds.mean);
    const double size = double(run.size);
    kernels.gemm.back().points.push_back(
        {size, FlopRate{2 * size * size * size / least}});
  }
  d.memories[0].processor.emplace().kernels = d.kernels.size();
  d.kernels.push_back(std::move(kernels));
}

/// Whether one engine runs copies of different flows in turn.
bool in_turns(const TransferRun& run, const Topology& topology) {
  std::map<std::string, int>
      of_engine;  // copies from a device to others, or between a device and a host
  for (const auto& flow : run.flows) {
    const bool from_host = flow.src == fit::host, to_host = flow.dst == fit::host;
    const Memory& device =
        topology.memory(*topology.find_memory(from_host ? flow.dst : flow.src));
    const Engines engines = device.engines();
    const auto limit = from_host ? engines.h2d : to_host ? engines.d2h : engines.peer;
    int& used = of_engine[device.name + (from_host ? "<" : to_host ? ">" : "-")];
    used += flow.in_flight;
    if (limit && used > *limit) return true;
  }
  return run.kind == "one each";
}

bool is_size(const void* range) {
  return range == &MachineFigures::gemm_size || range == &MachineFigures::gemm_extent;
}

/// All figures except bytes and sizes of kernels.
template <class Part, class Figures>
void round_off(Part& part, const Figures& figures) {
  for_each_there(part, figures, [](const auto& figure, auto& value) {
    if constexpr (requires { figure.figures; })
      round_off(value, figure.figures);
    else if constexpr (requires { value.begin(); })
      for (auto& row : value) round_off(row, figure.columns);
    else if constexpr (requires { figure.columns; })
      round_off(value, figure.columns);
    else if constexpr (std::is_same_v<decltype(value), double&>)
      value = is_size(&figure.range) ? value : rounded(value);
    else if constexpr (!std::is_same_v<decltype(value), Bytes&>)
      value.value = rounded(value.value);
  });
}

void round_off(Topology::Description& d) {
  for (Memory& memory : d.memories)
    if (memory.processor) round_off(*memory.processor, MachineFigures::of_power);
  for (Link& link : d.links) round_off(link, MachineFigures::of_links);
  for (CapacityGroup& group : d.groups) round_off(group, MachineFigures::of_groups);
  round_off(d.strided, MachineFigures::of_copies);
  d.strided.cache.value = rounded(d.strided.cache.value);
  round_off(d.issue, MachineFigures::of_issue);
  for (KernelTimes& kernels : d.kernels) {
    round_off(kernels, MachineFigures::of_kernels);
    for (GemmCurve& gemm : kernels.gemm) round_off(gemm, MachineFigures::of_gemms);
  }
}

}  // namespace

std::vector<std::string> missed_targets(const Measurements& m) {
  const WidestIntervals widest{m};
  std::vector<std::string> missed{missed_target("copies", widest.copies),
                                  missed_target("kernels", widest.kernels)};
  std::erase(missed, "");
  return missed;
}

Topology::Description fit_topology(const Measurements& m, HostPages pages) {
  Topology::Description d;
  const bool plain = pages == HostPages::plain;
  d.name = m.machine + (plain ? "-plain" : "");
  d.description = fmt::format("{} x {}, {}", m.devices.size(), m.devices[0].model,
                              plain ? "host buffers as the runtime allocates them"
                                    : "host buffers spread over all memory");
  const std::string when =
      fmt::format("calibrated {}, {} devices", m.date, m.devices.size());
  const auto source = [&](const std::string& key, const std::string& text) {
    d.sources.push_back({key, Source::Kind::measured, when + ": " + text});
  };
  source("machine", "properties from driver and system");
  const WidestIntervals widest{m};
  source("copies", "single flows of several sizes; 95 % intervals within " +
                       width_text(widest.copies));
  source("contention", "simultaneous flows; bounds by their number");
  source(
      "columns",
      "2-D copies by bytes of a column and from column to column, against packed ones");
  source("issue", "calls of one thread; call costs: of all threads");
  source("kernels",
         "bursts of kernels with pauses, then under load; 95 % intervals within " +
             width_text(widest.kernels));
  fit::Context context{m, pages, d};
  add_memories(context);
  fit::fit_links(context);
  fit::fit_groups(context);
  fit::fit_columns(context);
  fit::fit_costs(context);
  d.kernels.push_back(fit::fit_kernels(m));
  if (!m.cores.empty()) source("cores", "products of all cores of the host together");
  add_cores(m, d);
  round_off(d);
  std::erase_if(d.sources, [&](const Source& s) {
    return (s.key == "contention" && d.groups.empty()) ||
           (s.key == "columns" && d.strided.points.empty()) ||
           (s.key == "issue" && m.issue.empty());
  });
  d.uncertainty = fit::uncertainty_of(m, pages, Topology{d});
  if (d.uncertainty) source("uncertainty", uncertainty_text);
  return d;
}

std::vector<Residual> transfer_residuals(const Measurements& m, HostPages pages,
                                         const Topology& topology) {
  std::vector<Residual> all;
  for (const TransferRun& run : m.transfers) {
    if (run.pages != pages || run.column_bytes > 0 || in_turns(run, topology)) continue;
    std::vector<std::pair<MemoryId, MemoryId>> flows;
    std::string ends;
    for (const auto& flow : run.flows) {
      flows.emplace_back(*topology.find_memory(flow.src),
                         *topology.find_memory(flow.dst));
      ends += fmt::format(" {}>{}", flow.src, flow.dst);
    }
    const auto rates = concurrent_rates(topology, flows);
    double fitted = 0;
    for (const auto i : indices(flows)) {
      const double latency = topology.latency(flows[i].first, flows[i].second).value;
      fitted += run.copy_bytes / (run.copy_bytes / rates[i].value + latency);
    }
    all.push_back({run.kind + ":" + ends, run.total, fitted});
  }
  return all;
}

std::vector<Residual> kernel_residuals(const Measurements& m, const Topology& topology) {
  std::vector<Residual> all;
  for (const KernelRun& run : m.kernels) {
    if (run.at_once != 1 || run.alignment != 0 || run.duty >= fit::rested) continue;
    const KernelTimes& kernels = topology.kernels_of(*topology.find_memory(run.gpu));
    const std::string what = fmt::format("{} {} {}x{}x{}", to_string(run.dtype),
                                         run.trans, run.m, run.n, run.k);
    all.push_back({what, run.seconds, fit::gemm_time(kernels, run).value});
  }
  return all;
}

}  // namespace tilerail
