// Machine files and descriptions with impossible figures: each is rejected with its place
// and its range.
#include <fmt/ranges.h>

#include <set>

#include "model/base/files.hpp"
#include "model/machine/figure_reader.hpp"
#include "tests/support/bad_topology.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using namespace bad_topology;

class BadTopologyRange : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadTopologyRange, IsRefusedAtItsLineAndColumn) { expect_refused(GetParam()); }

const BadInput ranges[] = {
    {"Capacity",
     "\"16 GB\"",
     "\"99999999999 GB\"",
     "\"99999999999 GB\"",
     {"memory 'gpu0': capacity: '99999999999 GB' is out of range; expected 1 B to 1 PB"}},
    {"SmallCapacity",
     "\"16 GB\"",
     "\"1e-300 GB\"",
     "\"1e-300 GB\"",
     {"memory 'gpu0': capacity: '1e-300 GB' is out of range; expected 1 B to 1 PB"}},
    {"Watts",
     "\"50 W\"",
     "\"1e9 kW\"",
     "\"1e9 kW\"",
     {"memory 'gpu0': watts: idle: '1e9 kW' is out of range; expected 0 W to 1 MW"}},
    {"Bandwidth",
     "\"12 GB/s\"",
     "\"1e200 GB/s\"",
     "\"1e200 GB/s\"",
     {"link 'host->pcie0': bandwidth: '1e200 GB/s' is out of range; expected 1 MB/s to 1 "
      "PB/s"}},
    {"Latency",
     "\"5 us\"",
     "\"11 s\"",
     "\"11 s\"",
     {"link 'host->pcie0': latency: '11 s' is out of range; expected 0 s to 10 s"}},
    {"PerFlow",
     "\"9 GB/s\"",
     "\"1 B/s\"",
     "\"1 B/s\"",
     {"per_flow: '1 B/s' is out of range; expected 1 MB/s to 1 PB/s"}},
    {"GroupCapacity",
     "\"22 GB/s\"",
     "\"1e-300 GB/s\"",
     "\"1e-300 GB/s\"",
     {"group 'host memory': capacity: '1e-300 GB/s' is out of range; expected 1 MB/s to "
      "1 PB/s"}},
    {"BothBusy",
     "\"16 GB/s\"\nforward",
     "\"1e-300 GB/s\"\nforward",
     "\"1e-300 GB/s\"\nforward",
     {"group 'host memory': both_busy: '1e-300 GB/s' is out of range; expected 1 MB/s to "
      "1 PB/s"}},
    {"Copies",
     "[4, \"72 GB/s\"]",
     "[4e+300, \"72 GB/s\"]",
     "4e+300, \"72 GB/s\"]",
     {"group 'host memory': capacity: '4e+300' is out of range; expected 1 to 1000000 "
      "copies"}},
    {"ForwardShare",
     "forward_share = 0.4",
     "forward_share = 1e-300",
     "1e-300",
     {"group 'host memory': forward_share: '1e-300' is out of range; expected a share of "
      "0.001 to 0.999"}},
    {"StridedEfficiency",
     "0.88",
     "1e-300",
     "1e-300",
     {"copies: strided_efficiency: '1e-300' is out of range; expected an efficiency of "
      "0.000001 to 1"}},
    {"Column",
     "[\"8 KiB\", 0.88]",
     "[\"1e300 B\", 0.88]",
     "\"1e300 B\", 0.88]",
     {"copies: strided_efficiency: '1e300 B' is out of range; expected 1 B to 1 PB"}},
    {"Pitch",
     "\"16 KiB\", 0.25",
     "\"1e-300 B\", 0.25",
     "\"1e-300 B\", 0.25",
     {"copies: strided_efficiency_peer: '1e-300 B' is out of range; expected 1 B to 1 "
      "PB"}},
    {"Border",
     "strided_border = \"16 KiB\"",
     "strided_border = \"1e-300 B\"",
     "\"1e-300 B\"",
     {"copies: strided_border: '1e-300 B' is out of range; expected 1 B to 1 PB"}},
    {"PageCache",
     "page_cache = \"50 MB\"",
     "page_cache = \"1e-300 B\"",
     "\"1e-300 B\"",
     {"copies: page_cache: '1e-300 B' is out of range; expected 1 B to 1 PB"}},
    {"PerOp",
     "per_op = \"2 us\"",
     "per_op = \"1e300 s\"",
     "\"1e300 s\"",
     {"issue: per_op: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"PerKernel",
     "per_kernel = \"4 us\"",
     "per_kernel = \"1e300 s\"",
     "\"1e300 s\"",
     {"issue: per_kernel: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"PerDependency",
     "per_dependency = \"1 us\"",
     "per_dependency = \"1e300 s\"",
     "\"1e300 s\"",
     {"issue: per_dependency: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"PerCall",
     "per_call = \"40 us\"",
     "per_call = \"1e300 s\"",
     "\"1e300 s\"",
     {"issue: per_call: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"Launch",
     "launch = \"5 us\"",
     "launch = \"1e300 s\"",
     "\"1e300 s\"",
     {"launch: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"Multiprocessors",
     "multiprocessors = 80",
     "multiprocessors = 1e-300",
     "1e-300",
     {"multiprocessors: '1e-300' is out of range; expected 1 to 1000000"}},
    {"Block",
     "[128, 64]",
     "[1e-308, 64]",
     "1e-308, 64]",
     {"block: '1e-308' is out of range; expected 1 to 1e12"}},
    {"Overhead",
     "k_overhead = 64",
     "k_overhead = 1e+300",
     "1e+300",
     {"k_overhead: '1e+300' is out of range; expected 0 to 1000000"}},
    {"MemoryBandwidth",
     "\"800 GB/s\"",
     "\"1e-300 GB/s\"",
     "\"1e-300 GB/s\"",
     {"memory_bandwidth: '1e-300 GB/s' is out of range; expected 1 MB/s to 1 PB/s"}},
    {"GemmTime",
     "\"400 us\"",
     "\"1e-300 s\"",
     "\"1e-300 s\"",
     {"square: '1e-300 s' is out of range; expected 1e-18 s to 1000000 s"}},
    {"GemmSize",
     "[2048, \"2.6 ms\"]",
     "[1e+300, \"2.6 ms\"]",
     "1e+300, \"2.6 ms\"]",
     {"square: '1e+300' is out of range; expected 1 to 1000000000"}},
    {"Peak",
     "\"14 TFLOP/s\"",
     "\"1e-300 TFLOP/s\"",
     "\"1e-300 TFLOP/s\"",
     {"peak: '1e-300 TFLOP/s' is out of range; expected 1 FLOP/s to 1000 PFLOP/s"}},
    {"Efficiency",
     "[512, 0.5]",
     "[512, 1e-300]",
     "1e-300]",
     {"efficiency: '1e-300' is out of range; expected an efficiency of 0.000001 to 1"}},
    {"GemmWatts",
     "square =",
     "watts = \"1e300 W\"\nsquare =",
     "\"1e300 W\"",
     {"watts: '1e300 W' is out of range; expected 1 mW to 1 MW"}},
    {"TiledLaunch",
     "launch = \"3 us\"",
     "launch = \"1e300 s\"",
     "\"1e300 s\"",
     {"launch: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"Fill",
     "fill = 48",
     "fill = 1e+300",
     "1e+300",
     {"fill: '1e+300' is out of range; expected 0 to 1000000"}},
    {"Reduction",
     "\"1.5 us\"",
     "\"1e300 s\"",
     "\"1e300 s\"",
     {"reduction: '1e300 s' is out of range; expected 0 s to 10 s"}},
    {"TiledBlock",
     "[256, 128, 0.85]",
     "[1e-300, 128, 0.85]",
     "1e-300, 128, 0.85]",
     {"blocks: '1e-300' is out of range; expected 1 to 1e12"}},
    {"BlockEfficiency",
     "[256, 128, 0.85]",
     "[256, 128, 1e-300]",
     "1e-300]",
     {"blocks: '1e-300' is out of range; expected an efficiency of 0.000001 to 1"}},
    {"ShapeTime",
     "\"70 us\"",
     "\"1e-300 s\"",
     "\"1e-300 s\"",
     {"shapes: '1e-300 s' is out of range; expected 1e-18 s to 1000000 s"}},
    {"Sustained",
     "[0.9, 1.25]",
     "[0.9, 4e+09]",
     "4e+09]",
     {"sustained: '4e+09' is out of range; expected a factor of 1 to 1000"}},
    {"Duty",
     "[0.9, 1.25]",
     "[9e+300, 1.25]",
     "9e+300, 1.25]",
     {"sustained: '9e+300' is out of range; expected a share of the time, 0 to 1"}},
    {"Alignment",
     "[8, 1.3]",
     "[8e+300, 1.3]",
     "8e+300, 1.3]",
     {"alignment: '8e+300' is out of range; expected 1 to 65536 bytes"}},
    {"AlignmentFactor",
     "[8, 1.3]",
     "[8, 4e+09]",
     "4e+09]",
     {"alignment: '4e+09' is out of range; expected a factor of 1 to 1000"}},
};

INSTANTIATE_TEST_SUITE_P(Topology, BadTopologyRange, ::testing::ValuesIn(ranges),
                         name_of);

TEST(TopologyRanges, ARateThatFollowsFromATimeIsRefusedAtItsTable) {
  // 2 x 1024^3 flop in 1e-17 s
  expect_refused({"",
                  "\"400 us\"",
                  "\"1e-17 s\"",
                  "[kernels.k]",
                  {"kernels 'k': gemm f64: rates: rate: '214748364800 PFLOP/s'",
                   "1 FLOP/s to 1000 PFLOP/s"}});
}

TEST(TopologyRanges, HoldForDescriptionsThatAreMadeInCode) {
  const Topology machine = read_topology(good, "good.toml");
  const auto expect_refused_as = [&](auto change, const std::string& message) {
    Topology::Description d = machine.description();
    change(d);
    expect_input_error([&] { Topology{std::move(d)}; }, {message});
  };
  expect_refused_as(
      [](auto& d) { d.memories[1].capacity = Bytes{1e20}; },
      "memory 'gpu0': capacity: '1e+05 PB' is out of range; expected 1 B to 1 PB");
  expect_refused_as([](auto& d) { d.groups[0].capacity->points[0].rate = Rate{1e-291}; },
                    "group 'host memory': capacity: rate: '1e-291 B/s' is out of range; "
                    "expected 1 MB/s to 1 PB/s");
  expect_refused_as(
      [](auto& d) { d.kernels[0].block_m = 1e-308; },
      "kernels 'k': block: rows: '1e-308' is out of range; expected 1 to 1e12");
  expect_refused_as([](auto& d) { d.kernels[0].gemm[2].sustained[0].factor = 4e9; },
                    "kernels 'k': gemm f16: sustained: factor: '4e+09' is out of range; "
                    "expected a factor of 1 to 1000");
  expect_refused_as(
      [](auto& d) { d.memories[1].processor->engines.h2d = 2'000'000'000; },
      "memory 'gpu0': engines.h2d: '2e+09' is out of range; expected 1 to 4096");
  expect_refused_as(
      [](auto& d) { d.memories[1].processor->device = 2'000'000'000; },
      "memory 'gpu0': device: '2e+09' is out of range; expected 0 to 1048576");
  expect_refused_as(
      [](auto& d) {
        d.groups[0].capacity->points.resize(5000, {1, Rate{1e9}});
      },
      "group 'host memory': capacity: has 5000 entries; expected 1 to 4096");
}

/// Lines of the documentation page: one per figure, and one per column of lists.
struct Lines {
  std::vector<std::string> figures;
  std::set<std::string> columns;  // of lists, for any figure
};

template <class Figures>
void add_lines(Lines& lines, const std::string& part, const Figures& figures) {
  for_each(figures, [&](const auto& figure) {
    const std::string name =
        part + (figure.key.empty() ? "" : ".") + std::string{figure.key};
    if constexpr (requires { figure.range; }) {
      lines.figures.push_back(fmt::format("| `{}` | {} | ", name, figure.range.text));
    } else if constexpr (requires { figure.columns; }) {
      lines.figures.push_back(
          fmt::format("| `{}` | {} | ", name, columns_text(figure.columns)));
      for_each(figure.columns, [&](const auto& column) {
        lines.columns.insert(
            fmt::format("| `{}` | {} |\n", column.key, column.range.text));
      });
    } else {
      add_lines(lines, name, figure.figures);
    }
  });
}

TEST(TopologyRanges, EveryFigureIsInTheDescriptionOfTheFormat) {
  std::string page = read_file(TILERAIL_SOURCE_DIR "/docs/formats.md");
  page = page.substr(page.find("\n### Ranges\n"));
  page = page.substr(0, page.find("\n### Ranges of names"));
  using F = MachineFigures;
  Lines lines;
  add_lines(lines, "memory", std::tuple{F::of_device});
  add_lines(lines, "memory", F::of_memories);
  add_lines(lines, "link", F::of_links);
  add_lines(lines, "group", F::of_groups);
  add_lines(lines, "route", F::of_routes);
  add_lines(lines, "copies", F::of_copies);
  add_lines(lines, "issue", F::of_issue);
  add_lines(lines, "uncertainty", F::of_kernel_uncertainty);
  add_lines(lines, "uncertainty", F::of_uncertainty);
  add_lines(lines, "kernels", F::of_kernels);
  add_lines(lines, "gemm", std::tuple{F::square, F::rates, F::efficiency_of_peak});
  add_lines(lines, "gemm", F::of_gemms);
  for (const std::string& line : lines.figures)
    EXPECT_NE(page.find(line), std::string::npos) << line;
  for (const std::string& line : lines.columns)
    EXPECT_NE(page.find(line), std::string::npos) << line;
  size_t rows = 0;
  for (size_t at = page.find("\n| `"); at != std::string::npos;
       at = page.find("\n| `", at + 1))
    ++rows;
  EXPECT_EQ(rows, lines.figures.size() + lines.columns.size()) << "rows of other figures";
}

}  // namespace
}  // namespace tilerail
