#include "backends/host/measure/host_machine.hpp"

#include <fmt/format.h>

#include <string>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

constexpr double larger_than_any_result = 1 << 30;  // rows and columns of a thread block
constexpr Rate copy_rate{10e9};
constexpr FlopRate gemm_rate{10e9};

void require(const char* what, int value, int most, int least = 1) {
  if (value < least || value > most) {
    throw out_of_range(what, std::to_string(value), fmt::format("{} to {}", least, most));
  }
}

KernelTimes one_worker_kernels(const char* name, int workers, const std::string& source) {
  KernelTimes kernels;
  kernels.name = name;
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

Topology::Description host_machine(int devices, int workers, int cores) {
  require("devices", devices, 64);
  require("workers per device", workers, 1024);
  require("cores", cores, 1024, 0);
  const std::string source = "round";
  Topology::Description d;
  d.name = "host-threads";
  d.description = fmt::format("{} devices of {} CPU threads each", devices, workers);
  d.sources.push_back({source, Source::Kind::assumed,
                       "round numbers, to run plans without a calibration"});
  d.strided.source = d.issue.source = source;
  d.kernels.push_back(one_worker_kernels("worker", workers, source));
  if (cores > 0) d.kernels.push_back(one_worker_kernels("core", cores, source));
  for (int i = -1; i < devices; ++i) {
    Memory memory;
    memory.name = i < 0 ? "host" : "device" + std::to_string(i);
    memory.kind = i < 0 ? VertexKind::host : VertexKind::gpu;
    memory.vertex = VertexId{d.vertices.size()};
    memory.source = source;
    if (i >= 0) {
      memory.processor.emplace().device = i;
      memory.processor->engines.total = workers;
    } else if (cores > 0) {
      memory.processor.emplace().kernels = 1;
      memory.processor->engines.total = cores;
    }
    d.vertices.push_back({memory.name, memory.kind, source});
    d.memories.push_back(memory);
  }
  CapacityGroup ram;
  ram.name = "memory";
  ram.source = source;
  ram.capacity = CapacityCurve{{{1, copy_rate}}};
  for (const Memory& from : d.memories) {
    for (const Memory& to : d.memories) {
      if (from.vertex == to.vertex) continue;
      ram.forward.push_back(LinkId{d.links.size()});
      d.links.push_back({from.name + "->" + to.name, from.vertex, to.vertex, copy_rate,
                         Seconds{0}, std::nullopt, source});
    }
  }
  d.groups.push_back(std::move(ram));
  return d;
}

}  // namespace tilerail
