// Every invalid machine file is rejected with one message that contains the place, the
// value and the expectation.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::bad_topology {

inline const std::string good = R"(schema = 1
name = "small"
description = "one of everything"

[sources]
s = { kind = "assumed", text = "made up" }

[[memory]]
name = "host"
kind = "host"
source = "s"

[[memory]]
name = "gpu0"
kind = "gpu"
device = 0
capacity = "16 GB"
kernels = "k"
engines = { h2d = 1 }
watts = { idle = "50 W", busy = "300 W" }
source = "s"

[[memory]]
name = "gpu1"
kind = "gpu"
device = 1
kernels = "k"
source = "s"

[[switch]]
name = "pcie0"
source = "s"

[[switch]]
name = "spare"
source = "s"

[[link]]
from = "host"
to = "pcie0"
bandwidth = "12 GB/s"
latency = "5 us"
both = true
source = "s"

[[link]]
from = "pcie0"
to = ["gpu0", "gpu1"]
bandwidth = "10 GB/s"
latency = "6 us"
per_flow = "9 GB/s"
both = true
source = "s"

[[group]]
name = "host memory"
forward = ["host->pcie0"]
backward = ["pcie0->host"]
capacity = [[1, "22 GB/s"], [4, "72 GB/s"]]
both_busy = "16 GB/s"
forward_share = 0.4
source = "s"

[[route]]
from = "gpu0"
to = "gpu1"
links = ["gpu0->pcie0", "pcie0->gpu1"]
source = "s"

[copies]
strided_efficiency = [["8 KiB", 0.88], ["32 KiB", 1.0]]
strided_efficiency_again = [["8 KiB", 0.5], ["32 KiB", 0.75]]
page_cache = "50 MB"
strided_efficiency_peer = [["8 KiB", "16 KiB", 0.25], ["8 KiB", "64 KiB", 0.125]]
strided_border = "16 KiB"
source = "s"

[issue]
per_op = "2 us"
per_kernel = "4 us"
per_dependency = "1 us"
per_call = "40 us"
hand_on = "3 us"
graph = { per_call = "6 us", per_copy = "1.75 us", per_kernel = "625 ns", per_dependency = "375 ns", between_gpus = "4.5 us" }
source = "s"

[kernels.k]
launch = "5 us"
multiprocessors = 80
block = [128, 64]
k_overhead = 64
memory_bandwidth = "800 GB/s"
source = "s"

[[kernels.k.gemm]]
dtype = "f64"
square = [[1024, "400 us"], [2048, "2.6 ms"]]
source = "s"

[[kernels.k.gemm]]
dtype = "f32"
peak = "14 TFLOP/s"
efficiency = [[512, 0.5], [2048, 0.9]]
source = "s"

[[kernels.k.gemm]]
dtype = "f16"
peak = "200 TFLOP/s"
launch = "3 us"
fill = 48
reduction = "1.5 us"
blocks = [[256, 128, 0.85], [64, 32, 0.45]]
shapes = [[1000, 2000, 3000, "70 us"]]
side_by_side = [[256, 0.55], [1024, 0.95]]
in_graph = [[256, "1.125 us", 0.425], [1024, "0 ns", 1]]
sustained_after = "50 ms"
sustained_at_first = 0.7
sustained_fully_after = "250 ms"
sustained = [[0.6, 1.02], [0.9, 1.25]]
alignment = [[2, 3.5], [8, 1.3]]
source = "s"
)";

/// `good` with the first `find` replaced by `replace`. The error is at the first `at` of
/// the result.
struct BadInput {
  std::string name, find, replace, at;
  std::vector<std::string> words;
};

inline std::string place_of(const std::string& text, size_t offset) {
  const auto line_start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const auto line = 1 + std::count(text.begin(), text.begin() + ptrdiff_t(offset), '\n');
  return "bad.toml:" + std::to_string(line) + ":" +
         std::to_string(offset - line_start + 1) + ": ";
}

inline void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.name; }

inline void expect_refused(const BadInput& bad) {
  std::string text = good;
  const auto found = text.find(bad.find);
  ASSERT_NE(found, std::string::npos);
  text.replace(found, bad.find.size(), bad.replace);
  const auto at = text.find(bad.at);
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT([&] { read_topology(text, "bad.toml"); },
              ::testing::ThrowsMessage<InputError>(::testing::AllOf(
                  ::testing::StartsWith(place_of(text, at)), mentions(bad.words))));
}

inline std::string name_of(const ::testing::TestParamInfo<BadInput>& info) {
  return info.param.name;
}

}  // namespace tilerail::bad_topology
