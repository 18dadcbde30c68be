#include "backends/cuda/describe/device_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/base/indices.hpp"

namespace tilerail::cuda {
namespace {

/// A generation of GPUs: flop of one multiprocessor per clock (of its tensor cores if
/// they are faster), and the rate of NVLink out of one GPU. Source: NVIDIA's architecture
/// white papers (V100, A100, GA102, AD102, H100) and the B200 data sheet.
struct Generation {
  int compute_capability;
  double f64, f32, tf32, half;
  double nvlink;  // B/s
};
constexpr std::array generations{
    Generation{70, 64, 128, 128, 1024, 150e9},
    Generation{80, 128, 128, 1024, 2048, 300e9},
    Generation{86, 4, 256, 256, 512, 56e9},
    Generation{90, 256, 256, 2048, 4096, 450e9},
    Generation{100, 128, 256, 4096, 8192, 900e9},
};

// Assumed figures, which neither the driver nor the system reports;
// docs/machines.md#automatic.
namespace assumed {
constexpr double unknown_pcie = 31.5e9;   // B/s: PCIe 4, 16 lanes
constexpr double unknown_memory = 1e12;   // B/s
constexpr double share_of_link = 0.85;    // of a link's rate that copies reach
constexpr double share_of_memory = 0.85;  // of the memory's rate that kernels reach
constexpr double share_of_peak = 0.85;    // of the peak that a large GEMM reaches
constexpr double half_rate_size =
    400;  // side of the square GEMM that reaches half the best rate
constexpr double host_share = 0.5;  // of all PCIe ports together that host memory can
                                    // feed
constexpr double link_latency = 2.5e-6, launch = 4e-6, issue = 3e-6,
                 dependency = 2e-6;  // s
constexpr double block = 128, k_overhead = 64;
}  // namespace assumed

const std::string key = "properties";

const Generation& generation_of(int compute_capability) {
  const Generation* found = &generations.front();
  for (const Generation& g : generations)
    if (g.compute_capability <= compute_capability) found = &g;
  return *found;
}

double pcie_of(const DeviceFacts& device) {
  return assumed::share_of_link * device.pcie.value_or(assumed::unknown_pcie);
}
double nvlink_of(const DeviceFacts& device) {
  return assumed::share_of_link * generation_of(device.compute_capability).nvlink;
}

std::string gpu_name(size_t device) { return "gpu" + std::to_string(device); }

GemmCurve curve(DType dtype, double peak) {
  GemmCurve curve;
  curve.dtype = dtype;
  curve.source = key;
  for (const double size : {256, 512, 1024, 2048, 4096, 8192, 16384})
    curve.points.push_back({size, FlopRate{assumed::share_of_peak * peak * size /
                                           (size + assumed::half_rate_size)}});
  return curve;
}

KernelTimes kernels_of(const DeviceFacts& device, size_t index) {
  const Generation& g = generation_of(device.compute_capability);
  KernelTimes times;
  times.name = gpu_name(index);
  times.source = key;
  times.launch = Seconds{assumed::launch};
  times.multiprocessors = device.multiprocessors;
  times.block_m = times.block_n = assumed::block;
  times.k_overhead = assumed::k_overhead;
  const double memory =
      device.memory_bandwidth > 0 ? device.memory_bandwidth : assumed::unknown_memory;
  times.memory_bandwidth = Rate{assumed::share_of_memory * memory};
  const double clocks = device.multiprocessors * std::max(device.clock, 1e9);
  times.gemm = {curve(DType::f64, g.f64 * clocks), curve(DType::f32, g.f32 * clocks),
                curve(DType::tf32, g.tf32 * clocks), curve(DType::f16, g.half * clocks),
                curve(DType::bf16, g.half * clocks)};
  return times;
}

class Describer {
 public:
  explicit Describer(const MachineFacts& facts) : facts_{facts} {}

  Topology::Description describe() {
    d_.name = "automatic";
    d_.description =
        fmt::format("{} x {}", facts_.devices.size(), facts_.devices.front().name);
    d_.sources = {
        {key, Source::Kind::assumed, "properties of the devices; nothing was measured"}};
    d_.issue = {.per_op = Seconds{assumed::issue},
                .per_dependency = Seconds{assumed::dependency},
                .source = key};
    add_memory("host", VertexKind::host, -1);
    for (const auto g : indices(facts_.devices)) add_gpu(g);
    add_links();
    add_groups();
    return std::move(d_);
  }

 private:
  Memory& add_memory(const std::string& name, VertexKind kind, int device) {
    Memory memory;
    memory.name = name;
    memory.kind = kind;
    if (device >= 0) memory.processor.emplace().device = device;
    memory.vertex = VertexId{d_.vertices.size()};
    memory.source = key;
    d_.vertices.push_back({name, kind, key});
    return d_.memories.emplace_back(std::move(memory));
  }

  void add_gpu(size_t g) {
    const DeviceFacts& device = facts_.devices[g];
    Memory& gpu = add_memory(gpu_name(g), VertexKind::gpu, int(g));
    gpu.capacity = Bytes{double(device.memory_bytes)};
    Processor& processor = *gpu.processor;
    processor.kernels = g;
    processor.engines.h2d = processor.engines.d2h = 1;
    if (device.copy_engines == 1) processor.engines.peer = 1;
    d_.kernels.push_back(kernels_of(device, g));
  }

  LinkId link(size_t from, size_t to, double rate) {
    d_.links.push_back({"",
                        d_.memories[from].vertex,
                        d_.memories[to].vertex,
                        Rate{rate},
                        Seconds{assumed::link_latency},
                        {},
                        key});
    return LinkId{d_.links.size() - 1};
  }

  /// The host is memory 0, GPU g memory g + 1.
  void add_links() {
    const size_t gpus = facts_.devices.size();
    ports_.resize(gpus);
    for (size_t g = 0; g < gpus; ++g) {
      const LinkId in = link(0, g + 1, pcie_of(facts_.devices[g])),
                   out = link(g + 1, 0, pcie_of(facts_.devices[g]));
      ports_[g].pcie_in.push_back(in), ports_[g].pcie_out.push_back(out);
      from_host_.push_back(in), to_host_.push_back(out);
    }
    for (size_t from = 0; from < gpus; ++from)
      for (size_t to = 0; to < gpus; ++to) add_peer_link(from, to);
  }

  void add_peer_link(size_t from, size_t to) {
    const PeerLink kind = facts_.peers[from][to];
    if (from == to || kind == PeerLink::none) return;
    const bool nvlink = kind == PeerLink::nvlink;
    const auto rate = nvlink ? nvlink_of : pcie_of;
    const LinkId id = link(
        from + 1, to + 1, std::min(rate(facts_.devices[from]), rate(facts_.devices[to])));
    (nvlink ? ports_[from].nvlink_out : ports_[from].pcie_out).push_back(id);
    (nvlink ? ports_[to].nvlink_in : ports_[to].pcie_in).push_back(id);
  }

  void add_group(const std::string& name, const std::vector<LinkId>& links, double rate) {
    if (links.size() < 2) return;
    d_.groups.push_back({name, links, {}, CapacityCurve{{{1, Rate{rate}}}}, {}, {}, key});
  }

  void add_groups() {
    double all = 0;
    for (const auto g : indices(ports_)) {
      const double pcie = pcie_of(facts_.devices[g]),
                   nvlink = nvlink_of(facts_.devices[g]);
      all += pcie;
      add_group("PCIe into " + gpu_name(g), ports_[g].pcie_in, pcie);
      add_group("PCIe out of " + gpu_name(g), ports_[g].pcie_out, pcie);
      add_group("NVLink into " + gpu_name(g), ports_[g].nvlink_in, nvlink);
      add_group("NVLink out of " + gpu_name(g), ports_[g].nvlink_out, nvlink);
    }
    const double widest = d_.links[from_host_.front().index()].bandwidth.value;
    add_group("host memory to GPUs", from_host_,
              std::max(widest, assumed::host_share * all));
    add_group("GPUs to host memory", to_host_,
              std::max(widest, assumed::host_share * all));
  }

  struct Port {
    std::vector<LinkId> pcie_in, pcie_out, nvlink_in, nvlink_out;
  };
  const MachineFacts& facts_;
  Topology::Description d_;
  std::vector<Port> ports_;
  std::vector<LinkId> from_host_, to_host_;
};

}  // namespace

Topology::Description describe(const MachineFacts& facts) {
  return Describer{facts}.describe();
}

}  // namespace tilerail::cuda
