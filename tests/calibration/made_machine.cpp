#include "tests/calibration/made_machine.hpp"

namespace tilerail::made {
namespace {

using small_machine::add_link, small_machine::capacity;

/// A machine without links and groups. Vertex 0 is the host, vertex 1 + i GPU i.
Topology::Description host_and(int gpus, const std::vector<std::string>& switches = {}) {
  auto d = small_machine::unlinked("host", "gpu", gpus, switches);
  d.name = "made";
  d.kernels = {known_kernels()};
  for (Memory& memory : d.memories) {
    memory.capacity = Bytes{memory.kind == VertexKind::host ? 1e12 : 80e9};
    if (memory.kind == VertexKind::gpu)
      memory.processor->engines.h2d = memory.processor->engines.d2h = 1;
  }
  const Bytes near{16384}, off{20000}, far{131072};  // pitches
  d.strided.points = {{Bytes{2048}, 0.9, near}, {Bytes{8192}, 1.0, near},
                      {Bytes{2048}, 0.7, off},  {Bytes{8192}, 0.95, off},
                      {Bytes{4096}, 0.5, far},  {Bytes{16384}, 0.8, far},
                      {Bytes{65536}, 1.0, far}};
  d.strided.again = {{Bytes{4096}, 0.7, far}, {Bytes{65536}, 1.0, far}},
  d.strided.cache = Bytes{50e6};
  d.strided.border = near, d.strided.source = "s";
  d.issue.per_op = Seconds{2e-6}, d.issue.per_kernel = Seconds{5e-6},
  d.issue.per_dependency = Seconds{1e-6};
  d.issue.per_call = Seconds{20e-6}, d.issue.hand_on = Seconds{3e-6};
  d.issue.graph = GraphCost{Seconds{6e-6}, Seconds{1.5e-6}, Seconds{0.4e-6},
                            Seconds{0.3e-6}, Seconds{4e-6}};
  d.issue.source = "s";
  return d;
}

/// Group names of one kind are distinguished by a number.
CapacityGroup& group(Topology::Description& d, const std::string& kind,
                     std::vector<LinkId> forward, std::vector<LinkId> backward = {}) {
  return small_machine::add_group(d, kind + " " + std::to_string(d.groups.size()),
                                  std::move(forward), std::move(backward));
}

std::vector<LinkId> part(const std::vector<LinkId>& links, size_t from, size_t to) {
  return {links.begin() + ptrdiff_t(from), links.begin() + ptrdiff_t(to)};
}

}  // namespace

Topology::Description pcie_machine(int gpus) {
  auto d = host_and(gpus);
  std::vector<LinkId> to, from;
  for (int i = 0; i < gpus; ++i) {
    const std::string gpu = "gpu" + std::to_string(i);
    to.push_back(add_link(d, "host", gpu, 25, 6)),
        from.push_back(add_link(d, gpu, "host", 24, 5));
    group(d, "gpu both ways", {to.back()}, {from.back()}).both_busy = capacity({{2, 40}});
  }
  for (size_t i = 0; i + 1 < to.size(); i += 2) {
    group(d, "uplink in", part(to, i, i + 2)).capacity = capacity({{1, 25}, {2, 30}});
    group(d, "uplink out", part(from, i, i + 2)).capacity = capacity({{1, 24}, {2, 29}});
  }
  if (gpus > 2) group(d, "host to GPUs", to).capacity = capacity({{1, 80}});
  if (gpus > 1)
    group(d, "host both ways", to, from).both_busy =
        capacity({{2, 40}, {4, 56}, {16, 70}});
  return d;
}

Topology::Description switch_machine(int gpus) {
  const std::string middle = "made-switch";
  auto d = host_and(gpus, {middle});
  const auto count = size_t(gpus);
  std::vector<LinkId> to, from;
  for (size_t i = 1; i <= count; ++i) {
    const std::string& gpu = d.memories[i].name;
    d.memories[i].processor->engines.peer = 1;
    to.push_back(add_link(d, "host", gpu, 55, 3)),
        from.push_back(add_link(d, gpu, "host", 52, 3));
    const LinkId out = add_link(d, gpu, middle, 380, 0.5),
                 in = add_link(d, middle, gpu, 380, 0.5);
    group(d, "gpu both ways", {to.back()}, {from.back()}).both_busy = capacity({{2, 85}});
    if (count > 2)
      group(d, "port", {out}, {in}).both_busy =
          capacity({{2, 700}});  // not measurable with two GPUs
    group(d, "in and on", {to.back()}, {out}).both_busy = capacity({{2, 400}});
  }
  if (count >= 4) {
    group(d, "first half in", part(to, 0, count / 2)).capacity =
        capacity({{1, 55}, {2, 80}, {4, 100}});
    group(d, "host to GPUs", to).capacity =
        capacity({{1, 55}, {2, 110}, {3, 150}, {8, 220}});
  }
  if (count > 1) {
    CapacityGroup& both = group(d, "host both ways", to, from);
    both.both_busy = capacity({{2, 85}, {4, 130}, {16, 160}});
    both.forward_share = 0.4;
  }
  return d;
}

KernelTimes known_kernels() {
  KernelTimes kernels;
  kernels.name = "made", kernels.source = "s";
  kernels.launch = Seconds{4e-6};
  kernels.multiprocessors = 120;
  kernels.memory_bandwidth = Rate{3e12};
  TiledGemm tiled;
  tiled.launch = kernels.launch, tiled.peak = FlopRate{50e12}, tiled.fill = 90,
  tiled.reduction = Seconds{3e-6};
  tiled.blocks = {{128, 128, 0.95}, {128, 64, 0.9}, {64, 64, 0.75}, {32, 32, 0.5}};
  for (const DType dtype : {DType::f64, DType::f32}) {
    GemmCurve curve;
    curve.dtype = dtype, curve.source = "s", curve.tiled = tiled;
    if (dtype == DType::f32) curve.alignment = {{4, 1.5}, {8, 1.2}};
    if (dtype == DType::f64) curve.sustained = {{0.6, 1.0}, {0.8, 1.05}, {1.0, 1.2}};
    if (dtype == DType::f64) curve.watts = Watts{310};
    kernels.gemm.push_back(curve);
  }
  return kernels;
}

}  // namespace tilerail::made
