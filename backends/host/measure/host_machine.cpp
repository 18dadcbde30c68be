#include "backends/host/measure/host_machine.hpp"

#include <fmt/format.h>

#include <string>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

constexpr double larger_than_any_result = 1 << 30;  // rows and columns of a thread block
constexpr Rate copy_rate{10e9};
constexpr FlopRate gemm_rate{10e9};

void require(const char* what, int value, int most) {
  if (value < 1 || value > most) {
    throw out_of_range(what, std::to_string(value), fmt::format("1 to {}", most));
  }
}

KernelTimes one_worker_kernels(int workers, const std::string& source) {
  KernelTimes kernels;
  kernels.name = "worker";
  kernels.source = source;
  kernels.multiprocessors = workers;
  kernels.block_m = kernels.block_n = larger_than_any_result;
  kernels.memory_bandwidth = copy_rate;
  for (const DType dtype : dtypes)
    kernels.gemm.push_back(
        {.dtype = dtype, .trans = "", .points = {{1024, gemm_rate}}, .source = source});
  return kernels;
}

}  // namespace

Topology::Description host_machine(int devices, int workers) {
  require("devices", devices, 64);
  require("workers per device", workers, 1024);
  const std::string source = "round";
  Topology::Description d;
  d.name = "host-threads";
  d.description = fmt::format("{} devices of {} CPU threads each", devices, workers);
  d.sources.push_back({source, Source::Kind::assumed,
                       "round numbers, to run plans without a calibration"});
  d.strided.source = d.issue.source = source;
  d.kernels.push_back(one_worker_kernels(workers, source));
  for (int i = -1; i < devices; ++i) {
    Memory memory;
    memory.name = i < 0 ? "host" : "device" + std::to_string(i);
    memory.kind = i < 0 ? NodeKind::host : NodeKind::gpu;
    memory.node = NodeId{d.nodes.size()};
    memory.device = i;
    memory.source = source;
    if (i >= 0) memory.engines.total = workers;
    d.nodes.push_back({memory.name, memory.kind, source});
    d.memories.push_back(memory);
  }
  CapacityGroup ram;
  ram.name = "memory";
  ram.source = source;
  ram.capacity = CapacityCurve{{{1, copy_rate}}};
  for (const Memory& from : d.memories) {
    for (const Memory& to : d.memories) {
      if (from.node == to.node) continue;
      ram.forward.push_back(LinkId{d.links.size()});
      d.links.push_back({from.name + "->" + to.name, from.node, to.node, copy_rate,
                         Seconds{0}, std::nullopt, source});
    }
  }
  d.groups.push_back(std::move(ram));
  return d;
}

}  // namespace tilerail
