// Tiled GEMMs, load factors, the share of both directions and the submission cost of
// kernels, in machine files.
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/bad_topology.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using namespace bad_topology;

class BadTiledGemm : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadTiledGemm, IsRefusedAtItsLineAndColumn) { expect_refused(GetParam()); }

std::vector<BadInput> tiled() {
  return {
      {"NoFill",
       "fill = 48\n",
       "",
       "[[kernels.k.gemm]]\ndtype = \"f16\"",
       {"key 'fill' is missing"}},
      {"NoLaunch",
       "launch = \"3 us\"\n",
       "",
       "[[kernels.k.gemm]]\ndtype = \"f16\"",
       {"key 'launch' is missing"}},
      {"NegativeFill",
       "fill = 48",
       "fill = -1",
       "-1",
       {"fill: '-1' is out of range; expected 0 to 1000000"}},
      {"NoUnitOfReduction",
       "\"1.5 us\"",
       "\"1.5\"",
       "\"1.5\"",
       {"reduction: '1.5'", "unit"}},
      {"BlockTooShort",
       "[64, 32, 0.45]",
       "[64, 32]",
       "[64, 32]",
       {"2 entries", "[rows, columns, efficiency]"}},
      {"BlockTooLong",
       "[64, 32, 0.45]",
       "[64, 32, 0.45, 1]",
       "[64, 32, 0.45, 1]",
       {"4 entries", "[rows, columns, efficiency]"}},
      {"BlockOfNoRows", "[64, 32, 0.45]", "[0, 32, 0.45]", "0, 32, 0.45", {"0"}},
      {"BlockAboveThePeak",
       "[64, 32, 0.45]",
       "[64, 32, 1.45]",
       "1.45",
       {"1.45", "an efficiency of 0.000001 to 1"}},
      {"NoBlocks",
       "blocks = [[256, 128, 0.85], [64, 32, 0.45]]",
       "blocks = []",
       "[kernels.k]",
       {"gemm f16: blocks: has 0 entries; expected 1 to 4096"}},
      {"ShapeTooShort",
       "[1000, 2000, 3000, \"70 us\"]",
       "[1000, 2000, \"70 us\"]",
       "[1000, 2000, \"70",
       {"[m, n, k, time]"}},
      {"ShapeTooLong",
       "[1000, 2000, 3000, \"70 us\"]",
       "[1000, 2000, 3000, \"70 us\", \"9 us\", 1]",
       "[1000, 2000, 3000",
       {"6 entries", "[m, n, k, time, issue]"}},
      {"NegativeIssue", "\"70 us\"", "\"70 us\", \"-9 us\"", "\"-9 us\"", {"'-9 us'"}},
      {"AfterWithoutSustained",
       "sustained = [[0.6, 1.02], [0.9, 1.25]]\n",
       "",
       "\"50 ms\"",
       {"sustained_after", "has no meaning here", "next to 'sustained'"}},
      {"AtFirstAboveAll",
       "at_first = 0.7",
       "at_first = 1.65",
       "1.65",
       {"1.65", "a share of the time, 0 to 1"}},
      {"FullyAfterWithoutAtFirst",
       "sustained_at_first = 0.7\n",
       "",
       "\"250 ms\"",
       {"sustained_fully_after", "has no meaning here", "next to 'sustained_at_first'"}},
      {"SidesFall",
       "[1024, 0.95]",
       "[128, 0.95]",
       "[kernels.k]",
       {"side_by_side: side: '128' does not ascend; expected above 256"}},
      {"ShareAbove1",
       "[1024, 0.95]",
       "[1024, 1.95]",
       "1.95",
       {"1.95", "an efficiency of 0.000001 to 1"}},
      {"SidesOfGraphsFall",
       "[1024, \"0 ns\", 1]",
       "[256, \"0 ns\", 1]",
       "[kernels.k]",
       {"in_graph: side: '256' does not ascend; expected above 256"}},
      {"GainWithoutUnit",
       "[256, \"1.125 us\", 0.425]",
       "[256, 1.125, 0.425]",
       "1.125, 0.425",
       {"'1.125'"}},
      {"GraphWithoutCopies",
       "per_copy = \"1.75 us\", ",
       "",
       "{ per_call",
       {"'per_copy' is missing"}},
      {"GraphOfMore",
       "per_copy = \"1.75 us\"",
       "per_copy = \"1.75 us\", per_tile = 1",
       "per_tile",
       {"per_tile"}},
      {"NegativeHandOn", "\"3 us\"\ngraph", "\"-3 us\"\ngraph", "\"-3 us\"", {"'-3 us'"}},
      {"ShapeOfNoRows",
       "[1000, 2000, 3000,",
       "[0, 2000, 3000,",
       "0, 2000, 3000",
       {"0", "1"}},
      {"ShapeInNoTime", "\"70 us\"", "\"0 us\"", "\"0 us\"", {"'0 us'"}},
      {"DutyAbove1",
       "[0.9, 1.25]",
       "[1.9, 1.25]",
       "1.9",
       {"1.9", "a share of the time, 0 to 1"}},
      {"DutiesFall",
       "[0.9, 1.25]",
       "[0.3, 1.25]",
       "[kernels.k]",
       {"sustained: duty: '0.3' does not ascend"}},
      {"FactorBelow1",
       "[0.9, 1.25]",
       "[0.9, 0.8]",
       "0.8]]\nalignment",
       {"a factor of 1 to 1000"}},
      {"AlignmentsFall",
       "[8, 1.3]",
       "[1, 1.3]",
       "[kernels.k]",
       {"alignment: bytes: '1' does not ascend"}},
      {"AlignmentFactorBelow1",
       "[8, 1.3]",
       "[8, 0.3]",
       "0.3]]\nsource",
       {"a factor of 1 to 1000"}},
      {"BusyEfficiencyAbove1",
       "[\"32 KiB\", 0.75]",
       "[\"32 KiB\", 1.75]",
       "1.75",
       {"an efficiency of 0.000001 to 1"}},
      {"NegativePerCall", "\"40 us\"", "\"-40 us\"", "\"-40 us\"", {"'-40 us'"}},
      {"EfficiencyBesideBlocks",
       "fill = 48",
       "fill = 48\nefficiency = [[512, 0.7]]",
       "efficiency = [[512, 0.7]]",
       {"'efficiency' is an unknown key"}},
      {"FillWithoutBlocks",
       "efficiency = [[512, 0.5], [2048, 0.9]]",
       "efficiency = [[512, 0.5], [2048, 0.9]]\nfill = 7",
       "fill = 7",
       {"'fill' is an unknown key"}},
      {"BlocksWithoutMemory",
       "memory_bandwidth = \"800 GB/s\"\n",
       "",
       "[kernels.k]",
       {"a tiled gemm needs the memory bandwidth; expected memory_bandwidth"}},
      {"ShareOf1",
       "forward_share = 0.4",
       "forward_share = 1",
       "1\nsource",
       {"forward_share: '1'", "a share of 0.001 to 0.999"}},
      {"ShareOf0",
       "forward_share = 0.4",
       "forward_share = 0",
       "0\nsource",
       {"forward_share: '0'"}},
      {"ShareWithoutBothBusy",
       "both_busy = \"16 GB/s\"\n",
       "",
       "[[group]]",
       {"group 'host memory'", "'forward_share'", "'both_busy'"}},
      {"BorderWithoutUnit",
       "strided_border = \"16 KiB\"",
       "strided_border = 16",
       "16\nsource = \"s\"\n\n[issue]",
       {"strided_border: '16'"}},
      {"PerKernelWithoutUnit",
       "per_kernel = \"4 us\"",
       "per_kernel = 4",
       "4\nper_dependency",
       {"per_kernel: '4'"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Topology, BadTiledGemm, ::testing::ValuesIn(tiled()), name_of);

TEST(TopologyToml, TiledGemmsSharesAndKernelIssueAreReadAsWritten) {
  const auto d = read_topology(good, "good.toml").description();
  const GemmCurve& curve = d.kernels.at(0).gemm.at(2);
  ASSERT_TRUE(curve.tiled);
  EXPECT_TRUE(curve.points.empty());
  EXPECT_EQ(curve.tiled->peak, FlopRate{200e12});
  EXPECT_DOUBLE_EQ(curve.tiled->launch.value, 3e-6);
  EXPECT_EQ(curve.tiled->fill, 48);
  EXPECT_DOUBLE_EQ(curve.tiled->reduction.value, 1.5e-6);
  ASSERT_EQ(curve.tiled->blocks.size(), 2u);
  EXPECT_EQ(curve.tiled->blocks[1].rows, 64);
  EXPECT_EQ(curve.tiled->blocks[1].cols, 32);
  EXPECT_EQ(curve.tiled->blocks[1].efficiency, 0.45);
  ASSERT_EQ(curve.tiled->shapes.size(), 1u);
  EXPECT_EQ(curve.tiled->shapes[0].m, 1000);
  EXPECT_EQ(curve.tiled->shapes[0].n, 2000);
  EXPECT_EQ(curve.tiled->shapes[0].k, 3000);
  EXPECT_DOUBLE_EQ(curve.tiled->shapes[0].time.value, 70e-6);
  ASSERT_EQ(curve.tiled->fills.size(), 2u);
  EXPECT_EQ(curve.tiled->fills[1].side, 1024);
  EXPECT_EQ(curve.tiled->fills[1].share, 0.95);
  ASSERT_EQ(curve.tiled->in_graph.size(), 2u);
  EXPECT_EQ(curve.tiled->in_graph[0].side, 256);
  EXPECT_DOUBLE_EQ(curve.tiled->in_graph[0].gain.value, 1.125e-6);
  EXPECT_EQ(curve.tiled->in_graph[0].share, 0.425);
  EXPECT_EQ(curve.sustained_at_first, 0.7);
  EXPECT_EQ(curve.sustained_fully_after, Seconds{0.25});
  ASSERT_EQ(curve.sustained.size(), 2u);
  EXPECT_EQ(curve.sustained[1].duty, 0.9);
  EXPECT_EQ(curve.sustained[1].factor, 1.25);
  ASSERT_EQ(curve.alignment.size(), 2u);
  EXPECT_EQ(curve.alignment[1].bytes, 8);
  EXPECT_EQ(curve.alignment[1].factor, 1.3);
  EXPECT_EQ(d.groups.at(0).forward_share, 0.4);
  EXPECT_EQ(d.strided.again.at(1).efficiency, 0.75);
  EXPECT_EQ(d.strided.peer.at(0).efficiency, 0.25);
  ASSERT_EQ(d.strided.peer.size(), 2u);
  EXPECT_EQ(d.strided.peer[0].pitch, Bytes{16384});
  EXPECT_EQ(d.strided.peer[1].pitch, Bytes{65536});
  EXPECT_EQ(d.strided.border, Bytes{16384});
  EXPECT_DOUBLE_EQ(d.issue.per_call.value, 40e-6);
  EXPECT_DOUBLE_EQ(d.issue.hand_on.value, 3e-6);
  ASSERT_TRUE(d.issue.per_kernel);
  EXPECT_DOUBLE_EQ(d.issue.per_kernel->value, 4e-6);
}

TEST(TopologyToml, CostsOfGraphsAreReadAsWritten) {
  const auto graph = read_topology(good, "good.toml").description().issue.graph;
  ASSERT_TRUE(graph);
  EXPECT_DOUBLE_EQ(graph->per_call.value, 6e-6);
  EXPECT_DOUBLE_EQ(graph->per_copy.value, 1.75e-6);
  EXPECT_DOUBLE_EQ(graph->per_kernel.value, 625e-9);
  EXPECT_DOUBLE_EQ(graph->per_dependency.value, 375e-9);
  EXPECT_DOUBLE_EQ(graph->between_gpus.value, 4.5e-6);
}

TEST(TopologyToml, InterferenceOfCopiesSurvivesWritingAndReading) {
  Topology::Description d = read_topology(good, "good.toml").description();
  d.strided.beside = 1.25, d.strided.forgotten = 0.125;
  const StridedEfficiency read =
      read_topology(to_toml(d), "again.toml").description().strided;
  EXPECT_EQ(read.beside, 1.25);
  EXPECT_EQ(read.forgotten, 0.125);
}

TEST(TopologyToml, TiledGemmsSharesAndKernelIssueSurviveWritingAndReading) {
  const Topology before = read_topology(good, "good.toml");
  const std::string text = to_toml(before.description());
  for (const char* line :
       {"blocks = [[256, 128, 0.85], [64, 32, 0.45]]",
        "shapes = [[1000, 2000, 3000, \"70 us\"]]",
        "sustained = [[0.6, 1.02], [0.9, 1.25]]", "forward_share = 0.4",
        "per_kernel = \"4 us\"", "alignment = [[2, 3.5], [8, 1.3]]",
        "strided_efficiency_peer = ", "strided_border = \"16.384 KB\"",
        "per_call = \"40 us\"", "reduction = \"1.5 us\"", "fill = 48"})
    EXPECT_THAT(text, ::testing::HasSubstr(line));
  const Topology after = read_topology(text, "again.toml");
  EXPECT_EQ(to_toml(after.description()), text);
  const auto &x = before.description().strided, &y = after.description().strided;
  for (const double column : {4096., 8192., 20000., 32768.})
    for (const bool peer : {false, true})
      EXPECT_EQ(x.of({Bytes{column}, Bytes{40000}, peer, true}),
                y.of({Bytes{column}, Bytes{40000}, peer, true}));
  const MemoryId gpu = before.gpus()[0];
  for (const int64_t size : {100, 1000, 5000}) {
    const auto time = [&](const Topology& t) {
      return t.kernels_of(gpu).gemm_time(size, 2000, 3000, DType::f16, Trans::no,
                                         Trans::no);
    };
    EXPECT_EQ(time(after), time(before));
  }
}

}  // namespace
}  // namespace tilerail
