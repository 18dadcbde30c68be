// Hosts that are connected only by the NVLinks of their GPUs: staged copies between GPUs
// use bounce buffers on each host.
#pragma once

#include <string>

#include "tests/support/small_machine.hpp"

namespace tilerail::small_machine {

/// h -20- g0 and g1, h1 -20- g2 and g3, ... and all GPUs -200- nv, in GB/s and both
/// directions. The memories of hosts after the first come last.
inline Topology::Description split_hosts(int hosts, int gpus_of_each = 2) {
  auto d = unlinked("h", "g", hosts * gpus_of_each, {"nv"});
  d.kernels[0].gemm = {gemms(DType::f64, {{1024, 5.4}}),
                       gemms(DType::f32, {{1024, 10.8}})};
  for (int host = 1; host < hosts; ++host) add_host(d, "h" + std::to_string(host));
  for (int gpu = 0; gpu < hosts * gpus_of_each; ++gpu) {
    const int host = gpu / gpus_of_each;
    const std::string name = "g" + std::to_string(gpu);
    add_links(d, host == 0 ? "h" : "h" + std::to_string(host), name, 20);
    add_links(d, name, "nv", 200);
  }
  return d;
}

}  // namespace tilerail::small_machine
