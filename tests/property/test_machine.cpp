#include "model/machine/topology_toml.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

KernelTimes kernels(const std::string& name, double peak) {
  KernelTimes times;
  times.name = name, times.source = "s";
  times.launch = Seconds{3e-6};
  times.multiprocessors = 8;
  times.block_m = times.block_n = 16, times.k_overhead = 8;
  times.memory_bandwidth = Rate{500e9};
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32})
    times.gemm.push_back(
        small_machine::gemms(dtype, {{8, 0.2 * peak}, {64, 0.9 * peak}}));
  return times;
}

}  // namespace

/// host -- sw0 -- gpu0, gpu2 ...
///      \- sw1 -- gpu1, gpu3 ...
///  far --/
/// Every pair of GPUs has a route over the switches; GPUs i and i + 1 also have a direct
/// link, which is the faster route. Every third GPU computes faster; cores of the host
/// compute as slowly as the others. Copies of the second host, `far`, share a bound; its
/// memory has a higher number than the GPUs. Without switches every GPU has direct links
/// to the hosts, and otherwise routes only to GPUs i + 1 and i - 1.
Topology test_machine(const std::vector<int64_t>& capacities, Switches switches) {
  const bool switched = switches == Switches::two;
  const int gpus = int(capacities.size());
  auto d = small_machine::unlinked(
      "host", "gpu", gpus,
      switched ? std::vector<std::string>{"sw0", "sw1"} : std::vector<std::string>{});
  d.name = "test-machine";
  d.kernels = {kernels("slow", 1), kernels("fast", 3)};
  Processor& cores = d.memories[0].processor.emplace();
  cores.engines.total = 2;
  cores.idle_watts = Watts{40}, cores.busy_watts = Watts{120};
  if (switched) {
    for (const char* pcie : {"sw0", "sw1"})
      small_machine::add_links(d, "host", pcie, 20, 2);
    small_machine::add_links(d, "sw0", "sw1", 10, 1);
  }
  for (size_t i = 0; i < capacities.size(); ++i) {
    Memory& memory = d.memories[1 + i];
    memory.capacity = Bytes{double(capacities[i])};
    memory.processor->engines.h2d = memory.processor->engines.d2h = 1,
    memory.processor->engines.peer = 2;
    const bool fast = i % 3 == 2;
    memory.processor->kernels = fast ? 1 : 0;
    memory.processor->idle_watts = Watts{50},
    memory.processor->busy_watts = Watts{fast ? 300.0 : 200.0};
    small_machine::add_links(d, memory.name,
                             !switched    ? "host"
                             : i % 2 == 0 ? "sw0"
                                          : "sw1",
                             12, 1);
    if (i > 0) small_machine::add_links(d, memory.name, d.memories[i].name, 50, 1);
  }
  small_machine::add_host(d, "far");
  std::vector<std::string> joined{"sw1"};
  if (!switched) {
    joined = {"host"};
    for (int i = 0; i < gpus; ++i) joined.push_back("gpu" + std::to_string(i));
  }
  std::vector<LinkId> out, in;
  for (const std::string& node : joined) {
    const auto [there, back] = small_machine::add_links(d, "far", node, 15, 3);
    out.push_back(there), in.push_back(back);
  }
  CapacityGroup& far = small_machine::add_group(d, "far memory", out, in);
  far.capacity = small_machine::capacity({{1, 11}, {3, 14}}),
  far.both_busy = small_machine::capacity({{2, 13}, {5, 18}});
  far.forward_share = 0.6;
  return Topology{std::move(d)};
}

}  // namespace tilerail::testing
