#include "tests/support/random_cases.hpp"

namespace tilerail::testing {
namespace {

constexpr const char* host_and_switches = R"(schema = 1
name = "test-machine"
description = "for random tests"
[sources]
made = { kind = "assumed", text = "made up" }
[[memory]]
name = "host"
kind = "host"
source = "made"
[[switch]]
name = "sw0"
source = "made"
[[switch]]
name = "sw1"
source = "made"
[[link]]
from = "host"
to = ["sw0", "sw1"]
bandwidth = "20 GB/s"
latency = "2 us"
both = true
source = "made"
[[link]]
from = "sw0"
to = "sw1"
bandwidth = "10 GB/s"
latency = "1 us"
both = true
source = "made"
)";

std::string kernels_text(const std::string& table, const std::string& peak) {
  std::string toml = "[" + table + "]\nlaunch = \"3 us\"\nmultiprocessors = 8\nblock = [16, 16]\nk_overhead = 8\n" +
                     "memory_bandwidth = \"500 GB/s\"\nsource = \"made\"\n";
  for (const char* dtype : {"f64", "f32", "f16", "bf16", "tf32"})
    toml += "[[" + table + ".gemm]]\ndtype = \"" + dtype + "\"\npeak = \"" + peak +
            " TFLOP/s\"\nefficiency = [[8, 0.2], [64, 0.9]]\nsource = \"made\"\n";
  return toml;
}

}  // namespace

/// host -- sw0 -- gpu0, gpu2 ...        every GPU pair has a route over the switches; GPUs i and i + 1 also a
///      \- sw1 -- gpu1, gpu3 ...        direct link, which is the faster route. Every third GPU computes faster.
Topology test_machine(const std::vector<std::int64_t>& capacities) {
  std::string toml = host_and_switches;
  toml += kernels_text("kernels.slow", "1") + kernels_text("kernels.fast", "3");
  const auto name = [](int i) { return "gpu" + std::to_string(i); };
  for (int i = 0; i < static_cast<int>(capacities.size()); ++i) {
    toml += "[[memory]]\nname = \"" + name(i) + "\"\nkind = \"gpu\"\ndevice = " + std::to_string(i) +
            "\ncapacity = \"" + std::to_string(capacities[static_cast<std::size_t>(i)]) + " B\"\nkernels = \"" +
            (i % 3 == 2 ? "fast" : "slow") + "\"\nwatts = { idle = \"50 W\", busy = \"" + (i % 3 == 2 ? "300" : "200") +
            " W\" }\nengines = { h2d = 1, d2h = 1, peer = 2 }\nsource = \"made\"\n";
    toml += "[[link]]\nfrom = \"" + name(i) + "\"\nto = \"sw" + std::to_string(i % 2) +
            "\"\nbandwidth = \"12 GB/s\"\nlatency = \"1 us\"\nboth = true\nsource = \"made\"\n";
    if (i > 0)
      toml += "[[link]]\nfrom = \"" + name(i) + "\"\nto = \"" + name(i - 1) +
              "\"\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"\nboth = true\nsource = \"made\"\n";
  }
  return read_topology(toml, "test-machine.toml");
}

}  // namespace tilerail::testing
