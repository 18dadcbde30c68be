#include "calibration/fit_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "calibration/deviations.hpp"
#include "calibration/fit_parts.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "model/machine/figures.hpp"

namespace tilerail {
namespace fit {

std::vector<const TransferRun*> Context::runs(const std::string& kind) const {
  std::vector<const TransferRun*> found;
  for (const TransferRun& run : measurements.transfers) {
    const bool host_flow =
        std::ranges::any_of(run.flows, [](const auto& f) { return f.src == "host" || f.dst == "host"; });
    if (run.kind == kind && (!host_flow || run.pages == pages)) found.push_back(&run);
  }
  if (!found.empty() || pages == HostPages::spread) return found;
  return Context{measurements, HostPages::spread, description}.runs(kind);  // measured on one kind only
}

std::vector<const TransferRun*> Context::pairs(const std::string& src, const std::string& dst) const {
  std::vector<const TransferRun*> found;
  for (const TransferRun* run : runs("pair"))
    if (run->flows[0].src == src && run->flows[0].dst == dst) found.push_back(run);
  return found;
}

LinkId link_between(const Topology::Description& d, const std::string& from, const std::string& to) {
  for (const auto i : indices(d.links))
    if (d.nodes[d.links[i].from.index()].name == from && d.nodes[d.links[i].to.index()].name == to) return LinkId{i};
  throw fault_of("measurements", fmt::format("no copy from {} to {}", from, to), "a run of kind 'pair'");
}

/// Handing over as one thread does it, and a call as all devices need it.
void fit_costs(Context& context) {
  const Measurements& m = context.measurements;
  Topology::Description& d = context.description;
  const auto cost = [&](std::initializer_list<const char*> names, bool all = false) {
    double sum = 0;
    int count = 0;
    for (const std::string name : names) {
      int threads = 0;
      for (const IssueRun& run : m.issue)
        if (run.what == name && (threads == 0 || all == (run.threads > threads))) threads = run.threads;
      for (const IssueRun& run : m.issue)
        if (run.what == name && run.threads == threads) sum += run.seconds.mean, ++count;
    }
    return Seconds{count > 0 ? sum / count : 0};
  };
  if (m.issue.empty()) return;
  // Copies within a device cost as much to hand over as kernels do; those between memories may cost less.
  Seconds copy = cost({"copy", "2-D copy"});
  double between = 0;
  for (const LatencyRun& run : m.latencies) between += run.issued.mean / double(m.latencies.size());
  if (between > 0) copy = std::min(copy, Seconds{between});
  d.issue = {.per_op = copy,
             .per_kernel = cost({"gemm"}),
             .per_call = cost({"call"}, true),
             .per_dependency = cost({"record and wait"}),
             .hand_on = std::max(Seconds{0}, cost({"hand on"})),
             .source = "issue"};
  const GraphCost graph{cost({"graph call"}), cost({"graph copy"}), cost({"graph kernel"}), cost({"graph dependency"}),
                        cost({"graph of GPUs"})};
  if (graph.per_call > Seconds{0}) d.issue.graph = graph;  // older files have none
}

}  // namespace fit

namespace {

/// The widest interval of single flows. How several flows share one engine changes from run to run.
double widest(const std::vector<TransferRun>& runs) {
  double most = 0;
  for (const TransferRun& run : runs)
    if (run.flows.size() == 1) most = std::max(most, run.total.half_width);
  return most;
}

double widest(const std::vector<KernelRun>& runs) {
  double most = 0;
  for (const KernelRun& run : runs) most = std::max(most, run.seconds.half_width);
  return most;
}

Source source(const std::string& key, const std::string& text) { return {key, Source::Kind::measured, text}; }

void add_memories(fit::Context& context) {
  const Measurements& m = context.measurements;
  Topology::Description& d = context.description;
  d.nodes.push_back({"host", NodeKind::host, "machine"});
  Memory host;
  host.name = "host", host.kind = NodeKind::host, host.node = NodeId{size_t{0}}, host.source = "machine";
  host.capacity = Bytes{m.host_bytes};
  d.memories.push_back(host);
  for (const DeviceRecord& device : m.devices) {
    Memory gpu;
    gpu.name = device.name, gpu.node = NodeId{d.nodes.size()}, gpu.device = device.number, gpu.source = "machine";
    gpu.capacity = Bytes{device.memory_bytes};
    if (device.idle_watts > 0) gpu.idle_watts = Watts{device.idle_watts};
    if (device.limit_watts > 0) gpu.busy_watts = Watts{device.limit_watts};
    d.nodes.push_back({device.name, NodeKind::gpu, "machine"});
    d.memories.push_back(gpu);
  }
}

bool in_turns(const TransferRun& run, const Topology& topology) {
  std::map<std::pair<std::string, bool>, int> of_engine;  // copies out of a device to others, or between it and a host
  for (const auto& flow : run.flows) {
    const bool from_host = flow.src == "host", to_host = flow.dst == "host";
    const auto& device = topology.memory(*topology.find_memory(from_host ? flow.dst : flow.src));
    const auto limit = from_host ? device.engines.h2d : to_host ? device.engines.d2h : device.engines.peer;
    int& used = of_engine[{device.name + (from_host ? "<" : to_host ? ">" : "-"), true}];
    used += flow.in_flight;
    if (limit && used > *limit) return true;
  }
  return run.kind == "one each";
}

/// To four digits: more than measurements are worth, and still easy to read.
double rounded(double value) {
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);  // the nearest double, unlike by powers of ten
}
bool is_size(const void* range) { return range == &MachineFigures::gemm_size || range == &MachineFigures::gemm_extent; }

/// All figures except bytes and sizes of kernels.
template <class Part, class Figures>
void round_off(Part& part, const Figures& figures) {
  for_each_there(part, figures, [](const auto& figure, auto& value) {
    if constexpr (requires { figure.figures; })
      round_off(value, figure.figures);
    else if constexpr (requires { figure.columns; })
      for (auto& row : value) round_off(row, figure.columns);
    else if constexpr (std::is_same_v<decltype(value), double&>)
      value = is_size(&figure.range) ? value : rounded(value);
    else if constexpr (!std::is_same_v<decltype(value), Bytes&>)
      value.value = rounded(value.value);
  });
}

void round_off(Topology::Description& d) {
  for (Memory& memory : d.memories) round_off(memory, MachineFigures::of_power);
  for (Link& link : d.links) round_off(link, MachineFigures::of_links);
  for (CapacityGroup& group : d.groups) round_off(group, MachineFigures::of_groups);
  round_off(d.strided, MachineFigures::of_copies);
  d.strided.cache.value = rounded(d.strided.cache.value);
  round_off(d.issue, MachineFigures::of_issue);
  for (KernelTimes& kernels : d.kernels) {
    for (double* const figure : {&kernels.launch.value, &kernels.k_overhead}) *figure = rounded(*figure);
    if (kernels.memory_bandwidth) kernels.memory_bandwidth->value = rounded(kernels.memory_bandwidth->value);
    for (GemmCurve& gemm : kernels.gemm) round_off(gemm, MachineFigures::of_gemms);
  }
}

}  // namespace

std::vector<std::string> missed_targets(const Measurements& m) {
  std::vector<std::string> missed;
  for (const std::string& text :
       {missed_target("copies", widest(m.transfers)), missed_target("kernels", widest(m.kernels))})
    if (!text.empty()) missed.push_back(text);
  return missed;
}

Topology::Description fit_topology(const Measurements& m, HostPages pages) {
  Topology::Description d;
  const bool plain = pages == HostPages::plain;
  d.name = m.machine + (plain ? "-plain" : "");
  d.description =
      fmt::format("{} x {}, {}", m.devices.size(), m.devices[0].model,
                  plain ? "host buffers as the runtime allocates them" : "host buffers spread over all memory");
  const std::string when = fmt::format("calibrated {}, {} devices", m.date, m.devices.size());
  d.sources = {
      source("machine", when + ": what driver and system tell"),
      source("copies",
             when + ": single flows of several sizes; 95 % intervals within " + width_text(widest(m.transfers))),
      source("contention", when + ": several flows at once; bounds by how many run"),
      source("columns", when + ": 2-D copies by bytes of a column and from column to column, against packed ones"),
      source("issue", when + ": calls of one thread, and of all for what a call costs"),
      source("kernels", when + ": bursts of kernels with pauses, then under load; 95 % intervals within " +
                            width_text(widest(m.kernels)))};
  fit::Context context{m, pages, d};
  add_memories(context);
  fit::fit_links(context);
  fit::fit_groups(context);
  fit::fit_columns(context);
  fit::fit_costs(context);
  d.kernels.push_back(fit::fit_kernels(m));
  round_off(d);
  if (d.groups.empty()) std::erase_if(d.sources, [](const Source& s) { return s.key == "contention"; });
  if (d.strided.points.empty()) std::erase_if(d.sources, [](const Source& s) { return s.key == "columns"; });
  if (m.issue.empty()) std::erase_if(d.sources, [](const Source& s) { return s.key == "issue"; });
  d.uncertainty = fit::uncertainty_of(m, pages, Topology{d});
  if (!d.uncertainty) return d;
  d.sources.push_back(source("uncertainty", when + ": " + uncertainty_text));
  return d;
}

std::vector<Residual> transfer_residuals(const Measurements& m, HostPages pages, const Topology& topology) {
  std::vector<Residual> all;
  for (const TransferRun& run : m.transfers) {
    if (run.pages != pages || run.column_bytes > 0 || in_turns(run, topology)) continue;
    std::vector<std::pair<MemoryId, MemoryId>> flows;
    std::string ends;
    for (const auto& flow : run.flows) {
      flows.emplace_back(*topology.find_memory(flow.src), *topology.find_memory(flow.dst));
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
    if (run.at_once != 1 || run.alignment != 0 || run.duty >= 0.5) continue;
    const KernelTimes& kernels = topology.kernels_of(*topology.find_memory(run.gpu));
    const auto trans = [&](size_t i) { return run.trans[i] == 'T' ? Trans::yes : Trans::no; };
    const std::string what = fmt::format("{} {} {}x{}x{}", to_string(run.dtype), run.trans, run.m, run.n, run.k);
    all.push_back({what, run.seconds, kernels.gemm_time(run.m, run.n, run.k, run.dtype, trans(0), trans(1)).value});
  }
  return all;
}

}  // namespace tilerail
