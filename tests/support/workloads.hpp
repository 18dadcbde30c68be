#pragma once

#include <array>

#include "model/published/workload.hpp"

namespace tilerail::test::workloads {

constexpr MemoryId host{0}, gpu0{1}, gpu1{2};

/// From the host `to_first` GB/s to GPU 0 and 10 to GPU 1; 5 GB/s to the host; 20 GB/s
/// between the GPUs. No latency, no slowdowns.
inline LinkMap two_gpus(double to_first = 10) {
  const auto link = [](MemoryId src, MemoryId dst, double rate) {
    return LinkMap::Link{{src, dst}, Seconds{0}, Rate{rate * 1e9}};
  };
  const std::array all{link(host, gpu0, to_first), link(host, gpu1, 10),
                       link(gpu0, host, 5),        link(gpu1, host, 5),
                       link(gpu0, gpu1, 20),       link(gpu1, gpu0, 20)};
  return {3, all, {}};
}

/// A GEMM with matrices of 1 GB each, all on the host.
inline WorkloadProblem gemm(double exec0, double exec1) {
  WorkloadProblem p;
  p.operands = {{host, Bytes{1e9}, true, false},
                {host, Bytes{1e9}, true, false},
                {host, Bytes{1e9}, true, true}};
  p.flops = Flops{1e12};
  p.devices = {gpu0, gpu1};
  p.exec_times = {Seconds{exec0}, Seconds{exec1}}, p.watts = {Watts{300}, Watts{200}};
  p.tile_bytes = Bytes{32e6};
  return p;
}

}  // namespace tilerail::test::workloads
