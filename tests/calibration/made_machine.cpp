#include "tests/calibration/made_machine.hpp"

#include <initializer_list>
#include <utility>

namespace tilerail::made {
namespace {

LinkId link(Topology::Description& d, std::size_t from, std::size_t to, double gigabytes, double microseconds) {
  Link added;
  added.from = NodeId{from}, added.to = NodeId{to};
  added.bandwidth = Rate{gigabytes * giga}, added.latency = Seconds{microseconds * micro};
  added.source = "made";
  d.links.push_back(added);
  return LinkId{d.links.size() - 1};
}

/// Capacity in GB/s by number of copies.
CapacityCurve curve(std::initializer_list<std::pair<double, double>> points) {
  CapacityCurve result;
  for (const auto& [flows, gigabytes] : points) result.points.push_back({flows, Rate{gigabytes * giga}});
  return result;
}

CapacityGroup& group(Topology::Description& d, const std::string& name, std::vector<LinkId> forward,
                     std::vector<LinkId> backward = {}) {
  CapacityGroup added;
  added.name = name + " " + std::to_string(d.groups.size()), added.source = "made";
  added.forward = std::move(forward), added.backward = std::move(backward);
  d.groups.push_back(added);
  return d.groups.back();
}

/// Node 0 is the host, node 1 + i GPU i.
Topology::Description host_and(int gpus) {
  Topology::Description d;
  d.name = "made";
  d.sources = {{"made", Source::Kind::assumed, "made up"}};
  d.kernels = {known_kernels()};
  Memory host;
  host.name = "host", host.kind = NodeKind::host, host.source = "made", host.capacity = Bytes{1e12};
  d.nodes.push_back({"host", NodeKind::host, "made"});
  d.memories.push_back(host);
  for (int i = 0; i < gpus; ++i) {
    Memory gpu;
    gpu.name = "gpu" + std::to_string(i), gpu.device = i, gpu.node = NodeId{d.nodes.size()}, gpu.source = "made";
    gpu.capacity = Bytes{80e9};
    gpu.engines.h2d = gpu.engines.d2h = 1;
    d.nodes.push_back({gpu.name, NodeKind::gpu, "made"});
    d.memories.push_back(gpu);
  }
  const Bytes near{16384}, off{20000}, far{131072};  // columns apart
  d.strided.points = {{Bytes{2048}, 0.9, near}, {Bytes{8192}, 1.0, near}, {Bytes{2048}, 0.7, off},
                      {Bytes{8192}, 0.95, off}, {Bytes{4096}, 0.5, far},  {Bytes{16384}, 0.8, far},
                      {Bytes{65536}, 1.0, far}};
  d.strided.busy = {{Bytes{4096}, 0.4, far}, {Bytes{65536}, 0.9, far}};
  d.strided.border = near, d.strided.source = "made";
  d.issue.per_op = Seconds{2e-6}, d.issue.per_kernel = Seconds{5e-6}, d.issue.per_dependency = Seconds{1e-6};
  d.issue.per_call = Seconds{20e-6};
  d.issue.source = "made";
  return d;
}

std::vector<LinkId> part(const std::vector<LinkId>& links, std::size_t from, std::size_t to) {
  return {links.begin() + static_cast<std::ptrdiff_t>(from), links.begin() + static_cast<std::ptrdiff_t>(to)};
}

}  // namespace

Topology::Description pcie_machine(int gpus) {
  auto d = host_and(gpus);
  std::vector<LinkId> to, from;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(gpus); ++i) {
    to.push_back(link(d, 0, i, 25, 6)), from.push_back(link(d, i, 0, 24, 5));
    group(d, "gpu both ways", {to.back()}, {from.back()}).both_busy = curve({{2, 40}});
  }
  for (std::size_t i = 0; i + 1 < to.size(); i += 2) {
    group(d, "uplink in", part(to, i, i + 2)).capacity = curve({{1, 25}, {2, 30}});
    group(d, "uplink out", part(from, i, i + 2)).capacity = curve({{1, 24}, {2, 29}});
  }
  if (gpus > 2) group(d, "host to GPUs", to).capacity = curve({{1, 80}});
  if (gpus > 1) group(d, "host both ways", to, from).both_busy = curve({{2, 40}, {4, 56}, {16, 70}});
  return d;
}

Topology::Description switch_machine(int gpus) {
  auto d = host_and(gpus);
  const auto count = static_cast<std::size_t>(gpus), middle = d.nodes.size();
  d.nodes.push_back({"made-switch", NodeKind::network_switch, "made"});
  std::vector<LinkId> to, from;
  for (std::size_t i = 1; i <= count; ++i) {
    d.memories[i].engines.peer = 1;
    to.push_back(link(d, 0, i, 55, 3)), from.push_back(link(d, i, 0, 52, 3));
    const LinkId out = link(d, i, middle, 380, 0.5), in = link(d, middle, i, 380, 0.5);
    group(d, "gpu both ways", {to.back()}, {from.back()}).both_busy = curve({{2, 85}});
    if (count > 2) group(d, "port", {out}, {in}).both_busy = curve({{2, 700}});  // with two GPUs no port can be told
    group(d, "in and on", {to.back()}, {out}).both_busy = curve({{2, 400}});
  }
  if (count >= 4) {
    group(d, "first half in", part(to, 0, count / 2)).capacity = curve({{1, 55}, {2, 80}, {4, 100}});
    group(d, "host to GPUs", to).capacity = curve({{1, 55}, {2, 110}, {3, 150}, {8, 220}});
  }
  if (count > 1) {
    CapacityGroup& both = group(d, "host both ways", to, from);
    both.both_busy = curve({{2, 85}, {4, 130}, {16, 160}});
    both.forward_share = 0.4;
  }
  return d;
}

KernelTimes known_kernels() {
  KernelTimes kernels;
  kernels.name = "made", kernels.source = "made";
  kernels.launch = Seconds{4e-6};
  kernels.multiprocessors = 120;
  kernels.memory_bandwidth = Rate{3000 * giga};
  TiledGemm tiled;
  tiled.launch = kernels.launch, tiled.peak = FlopRate{50e12}, tiled.fill = 90, tiled.reduction = Seconds{3e-6};
  tiled.blocks = {{128, 128, 0.95}, {128, 64, 0.9}, {64, 64, 0.75}, {32, 32, 0.5}};
  for (const DType dtype : {DType::f64, DType::f32}) {
    GemmCurve curve;
    curve.dtype = dtype, curve.source = "made", curve.tiled = tiled;
    if (dtype == DType::f32) curve.alignment = {{4, 1.5}, {8, 1.2}};
    if (dtype == DType::f64) curve.sustained = {{0.6, 1.0}, {0.8, 1.05}, {1.0, 1.2}};
    if (dtype == DType::f64) curve.watts = Watts{310};
    kernels.gemm.push_back(curve);
  }
  return kernels;
}

}  // namespace tilerail::made
