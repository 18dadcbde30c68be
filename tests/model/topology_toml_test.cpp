#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/machine/concurrent_rates.hpp"
#include "model/machine/rank.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;

const std::string machines = TILERAIL_SOURCE_DIR "/topologies/";

/// A host and `gpus` GPUs named gpu0, gpu1, ...; `rest` may add tables.
std::string machine(int gpus, const std::string& rest) {
  std::string text = R"(schema = 1
name = "m"
[sources]
s = { kind = "published", text = "a \"paper\"\n" }
[kernels.k]
launch = "1 us"
multiprocessors = 1
block = [1, 1]
k_overhead = 0
source = "s"
[[memory]]
name = "host"
kind = "host"
source = "s"
)";
  for (int i = 0; i < gpus; ++i) {
    const std::string number = std::to_string(i);
    text.append("[[memory]]\nname = \"gpu")
        .append(number)
        .append("\"\nkind = \"gpu\"\ndevice = ")
        .append(number);
    text.append("\nkernels = \"k\"\nsource = \"s\"\n");
  }
  return text + rest;
}

const std::string figures =
    "bandwidth = \"10 GB/s\"\nlatency = \"1 us\"\nsource = \"s\"\n";

TEST(TopologyToml, BothAddsTheOppositeDirectionWithTheSameFigures) {
  const auto t = read_topology(
      machine(1, "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\nboth = true\n" + figures),
      "m");
  EXPECT_EQ(link_names_of(t), (std::vector<std::string>{"host->gpu0", "gpu0->host"}));
  EXPECT_EQ(t.links()[1].bandwidth, Rate{10e9});
  EXPECT_EQ(t.links()[1].latency, Seconds{1e-6});
}

TEST(TopologyToml, ListsLinkEveryPairOnceAndNothingToItself) {
  const std::string all = "[\"host\", \"gpu0\", \"gpu1\"]";
  const std::vector<std::string> expected{"host->gpu0", "gpu0->host", "host->gpu1",
                                          "gpu1->host", "gpu0->gpu1", "gpu1->gpu0"};
  const auto both = read_topology(machine(2, "[[link]]\nfrom = " + all + "\nto = " + all +
                                                 "\nboth = true\n" + figures),
                                  "m");
  EXPECT_EQ(link_names_of(both), expected);
  const auto one = read_topology(
      machine(2, "[[link]]\nfrom = " + all + "\nto = " + all + "\n" + figures), "m");
  EXPECT_EQ(one.links().size(), expected.size());
}

TEST(TopologyToml, ParallelLinksCanBeNamedInRoutes) {
  const std::string link =
      "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\nboth = true\n" + figures;
  const auto t =
      read_topology(machine(1, link + link +
                                   "[[route]]\nfrom = \"host\"\nto = \"gpu0\"\nlinks = "
                                   "[\"host->gpu0#2\"]\nsource = \"s\"\n"),
                    "m");
  EXPECT_EQ(route(t, "host", "gpu0"), std::vector<std::string>{"host->gpu0#2"});
}

std::string node(const std::string& name, const std::string& memories,
                 const std::string& nics) {
  return "[[node]]\nname = \"" + name + "\"\nmemories = " + memories +
         "\nnics = " + nics + "\nsource = \"s\"\n";
}

/// GPUs 0 to 2 in the node of the host, and the rest in another.
std::string two_nodes(const std::string& first, const std::string& second) {
  return machine(
      4,
      "[[switch]]\nname = \"nic\"\nsource = \"s\"\n[[link]]\nfrom = \"nic\"\n"
      "to = [\"host\", \"gpu0\", \"gpu1\", \"gpu2\", \"gpu3\"]\nboth = true\n" +
          figures + node("n0", first, "\"nic\"") + node("n1", second, "[\"nic\"]"));
}

TEST(TopologyToml, MemoriesOfANodeBelongToItsRank) {
  const std::string text = two_nodes(R"(["host", "gpu[0-2]"])", R"("gpu3")");
  const Topology t = read_topology(text, "m");
  ASSERT_EQ(t.nodes().size(), 2U);
  EXPECT_EQ(t.nodes()[1].nics, std::vector{vertex(t.description(), "nic")});
  EXPECT_EQ(to_toml(read_topology(to_toml(t.description()), "n").description()),
            to_toml(t.description()));
  const Ranks ranks = Ranks::of_nodes(t);
  EXPECT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks.of(memory(t, "gpu2")), ranks.of(memory(t, "host")));
  EXPECT_NE(ranks.of(memory(t, "gpu3")), ranks.of(memory(t, "host")));
  EXPECT_EQ(Ranks::of_nodes(test::shipped("two-gpu")).size(), 1U);
}

TEST(TopologyToml, RemovedGpusLeaveTheirNodes) {
  const std::string text = two_nodes(R"(["host", "gpu[0-2]"])", R"("gpu3")");
  const Topology left =
      with_settings(read_topology(text, "m"), std::vector<std::string>{"gpus=1"});
  EXPECT_EQ(left.nodes()[0].memories,
            (std::vector{memory(left, "host"), memory(left, "gpu0")}));
  EXPECT_EQ(left.nodes().size(), 1U);
  EXPECT_EQ(left.nodes()[0].nics, std::vector{vertex(left.description(), "nic")});
}

TEST(TopologyToml, AMemoryIsInOneNode) {
  const std::string rest = R"("gpu[0-3]")";
  expect_input_error([&] { read_topology(two_nodes(R"("host")", R"("gpu[0-2]")"), "m"); },
                     {"gpu3: is missing; expected each memory in a node"});
  expect_input_error([&] { read_topology(two_nodes(R"(["host", "gpu3"])", rest), "m"); },
                     {"node 'n1': memories: 'gpu3' is given twice"});
  const std::string memory_as_nic =
      machine(1, node("n", R"(["host", "gpu0"])", R"("gpu0")"));
  expect_input_error([&] { read_topology(memory_as_nic, "m"); },
                     {"node 'n': nics: 'gpu0' is a memory; expected switches"});
}

TEST(TopologyToml, GpuPairsWithoutARouteAreAllowed) {
  const auto t = read_topology(
      machine(2, "[[link]]\nfrom = \"host\"\nto = [\"gpu0\", \"gpu1\"]\nboth = true\n" +
                     figures),
      "m");
  EXPECT_FALSE(t.has_route(memory(t, "gpu0"), memory(t, "gpu1")));
}

TEST(TopologyToml, AGpuThatNoHostReachesIsRefusedAtItsTable) {
  const std::string text =
      machine(2, "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\nboth = true\n" + figures);
  const auto line = std::to_string(
      1 +
      std::count(text.begin(), text.begin() + ptrdiff_t(text.rfind("[[memory]]")), '\n'));
  expect_input_error([&] { read_topology(text, "m"); },
                     {"m:" + line + ":1: memory 'gpu1': unreachable memory"});
}

TEST(TopologyToml, AGpuThatReachesNoHostIsRefused) {
  const std::string text =
      machine(1, "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\n" + figures);
  expect_input_error([&] { read_topology(text, "m"); },
                     {"memory 'gpu0': no path from it to a host"});
}

TEST(TopologyToml, TheThreeFormsOfGemmTimesAgree) {
  // 2 * 1000^3 flop in 1 ms, as 2 TFLOP/s, as half of 4 TFLOP/s
  const std::string head = "[[kernels.k.gemm]]\nsource = \"s\"\ndtype = ";
  const std::string links =
      "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\nboth = true\n" + figures;
  const auto t = read_topology(
      machine(1, links + head + "\"f64\"\nsquare = [[1000, \"1 ms\"]]\n" +  //
                     head + "\"f32\"\nrates = [[1000, \"2 TFLOP/s\"]]\n" + head +
                     "\"f16\"\npeak = \"4 TFLOP/s\"\nefficiency = [[1000, 0.5]]\n"),
      "m");
  for (const GemmCurve& curve : t.kernels_of(memory(t, "gpu0")).gemm) {
    EXPECT_EQ(curve.points.at(0).size, 1000);
    EXPECT_DOUBLE_EQ(curve.points.at(0).rate.value, 2e12);
  }
}

/// The description of a machine from this TOML string.
std::string described_by(const std::string& toml) {
  const std::string links =
      "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\nboth = true\n" + figures;
  return read_topology("description = " + toml + "\n" + machine(1, links), "m")
      .description()
      .description;
}

TEST(TopologyToml, DotsOfTextsAndCommentsAreNotPartsOfKeys) {
  const std::string dots(40, '.');
  EXPECT_EQ(described_by("\"" + dots + "\\\"" + dots + "\""), dots + "\"" + dots);
  EXPECT_EQ(described_by("'" + dots + "\\'  # \"" + dots), dots + "\\");
  EXPECT_EQ(described_by("\"\"\"a\n" + dots + "\"\"" + dots + "\\\"\"\"\"\"  # '" + dots),
            "a\n" + dots + "\"\"" + dots + "\"\"");
  EXPECT_EQ(described_by("'''a\n\"" + dots + "''" + dots + "'''''"),
            "a\n\"" + dots + "''" + dots + "''");
  EXPECT_EQ(described_by("\"\" # " + dots), "");
}

// The figures in the comment of the file.
TEST(TopologyToml, TwoGpuHasTheFiguresOfItsComment) {
  const Topology t = test::shipped("two-gpu");
  const MemoryId host = memory(t, "host"), gpu0 = memory(t, "gpu0"),
                 gpu1 = memory(t, "gpu1");
  EXPECT_EQ(t.gpus(), (std::vector{gpu0, gpu1}));
  for (const auto& [from, to] :
       {std::pair{host, gpu0}, {gpu0, host}, {host, gpu1}, {gpu1, host}}) {
    EXPECT_EQ(t.pair_rate(from, to), Rate{10e9});
    EXPECT_DOUBLE_EQ(t.latency(from, to).value, 10e-6);
  }
  EXPECT_EQ(t.pair_rate(gpu0, gpu1), Rate{40e9});
  EXPECT_DOUBLE_EQ(t.latency(gpu1, gpu0).value, 5e-6);
  const std::pair<MemoryId, MemoryId> fetches[] = {{host, gpu0}, {host, gpu1}};
  EXPECT_THAT(concurrent_rates(t, fetches), ::testing::Each(Rate{6e9}));
  const auto time = [&](auto m, auto n, auto k) {
    return t.kernels_of(gpu0).gemm_time(m, n, k, DType::f64, Trans::no, Trans::no).value;
  };
  EXPECT_DOUBLE_EQ(time(1024, 512, 256), 2.0 * 1024 * 512 * 256 / 1e12);
  EXPECT_DOUBLE_EQ(time(128, 128, 128), 10e-6);  // 4.2 us of work
  EXPECT_DOUBLE_EQ(t.kernels_of(gpu0).occupancy(256, 256), 0.25);
}

void expect_same_parts(const Topology::Description& x, const Topology::Description& y) {
  EXPECT_EQ(x.name, y.name);
  EXPECT_EQ(x.description, y.description);
  ASSERT_EQ(x.sources.size(), y.sources.size());
  for (size_t i = 0; i < x.sources.size(); ++i) {
    EXPECT_EQ(x.sources[i].key, y.sources[i].key);
    EXPECT_EQ(x.sources[i].kind, y.sources[i].kind);
    EXPECT_EQ(x.sources[i].text, y.sources[i].text);
  }
  ASSERT_EQ(x.memories.size(), y.memories.size());
  for (size_t i = 0; i < x.memories.size(); ++i) {
    EXPECT_EQ(x.memories[i].name, y.memories[i].name);
    EXPECT_TRUE(x.memories[i].processor == y.memories[i].processor);
    EXPECT_EQ(x.memories[i].capacity, y.memories[i].capacity);
    EXPECT_EQ(x.memories[i].source, y.memories[i].source);
  }
  ASSERT_EQ(x.links.size(), y.links.size());
  for (size_t i = 0; i < x.links.size(); ++i) {
    EXPECT_EQ(x.links[i].name, y.links[i].name);
    EXPECT_EQ(x.links[i].bandwidth, y.links[i].bandwidth);
    EXPECT_EQ(x.links[i].latency, y.links[i].latency);
    EXPECT_EQ(x.links[i].per_flow, y.links[i].per_flow);
  }
  EXPECT_EQ(x.issue.per_op, y.issue.per_op);
  EXPECT_EQ(x.issue.per_dependency, y.issue.per_dependency);
  for (double column : {1e3, 1e4, 2e4, 1e5})
    EXPECT_EQ(x.strided.at(Bytes{column}), y.strided.at(Bytes{column}));
}

void expect_same_routes(const Topology& a, const Topology& b) {
  const size_t memories = a.description().memories.size();
  for (size_t from = 0; from < memories; ++from)
    for (size_t to = 0; to < memories; ++to) {
      const MemoryId src{from}, dst{to};
      EXPECT_THAT(a.route(src, dst), ::testing::ElementsAreArray(b.route(src, dst)));
      if (a.has_route(src, dst)) {
        EXPECT_EQ(a.pair_rate(src, dst), b.pair_rate(src, dst));
      }
    }
}

void expect_same_kernels(const Topology& a, const Topology& b) {
  for (MemoryId gpu : a.gpus())
    for (const GemmCurve& curve : a.kernels_of(gpu).gemm)
      for (int64_t size : {1, 100, 1000, 5000, 20000}) {
        const auto time = [&](const Topology& t) {
          return t.kernels_of(gpu).gemm_time(size, size, 1000, curve.dtype, Trans::no,
                                             Trans::yes);
        };
        if (curve.trans.empty() || curve.trans == "NT") {
          EXPECT_EQ(time(a), time(b));
          EXPECT_EQ(a.kernels_of(gpu).gemm_watts(curve.dtype, Trans::no, Trans::yes),
                    b.kernels_of(gpu).gemm_watts(curve.dtype, Trans::no, Trans::yes));
        }
      }
}

// The text is stable, too: writing, reading and writing again gives the same text.
TEST(TopologyToml, EveryShippedMachineSurvivesWritingAndReading) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(machines)) {
    SCOPED_TRACE(file.path().filename().string());
    const Topology original = load_topology(file.path().string());
    const std::string text = to_toml(original.description());
    const Topology again = read_topology(text, "again.toml");
    expect_same_parts(original.description(), again.description());
    expect_same_routes(original, again);
    expect_same_kernels(original, again);
    EXPECT_EQ(to_toml(again.description()), text);
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST(TopologyToml, WritingKeepsMeasuredTimesExactly) {
  const std::string links =
      "[[link]]\nfrom = \"host\"\nto = \"gpu0\"\nboth = true\n" + figures;
  const std::string gemm =
      "[[kernels.k.gemm]]\ndtype = \"f64\"\nsource = \"s\"\nsquare = [[1536, \"1.7 "
      "ms\"]]\n";
  const std::string text =
      to_toml(read_topology(machine(1, links + gemm), "m").description());
  EXPECT_THAT(text, ::testing::HasSubstr("square = [[1536, \"1.7 ms\"]]"));
}

TEST(TopologyToml, WattsOfAGemmSurviveWritingAndReading) {
  auto d = test::shipped("two-gpu").description();
  d.kernels[0].gemm[0].watts = Watts{187.5};
  const KernelTimes again =
      read_topology(to_toml(d), "again.toml").description().kernels[0];
  EXPECT_EQ(again.gemm_watts(DType::f64, Trans::no, Trans::no), Watts{187.5});
  EXPECT_EQ(again.gemm_watts(DType::f32, Trans::no, Trans::no), std::nullopt);
}

TEST(TopologyToml, WritingRefusesAMissingSource) {
  auto d = memories_and_switches(1, 0);
  add_links(d, "h", "g0", 10);
  d.links[1].source = "rumour";
  expect_input_error([&] { to_toml(d); },
                     {"[[link]]", "source: 'rumour'", "expected a key"});
}

TEST(Topology, ADescriptionBuiltInCodeIsCheckedToo) {
  auto d = memories_and_switches(1, 0);
  add_links(d, "h", "g0", 10);
  d.links[1].bandwidth = Rate{0};
  expect_input_error([&] { Topology{d}; },
                     {"link 'g0->h'", "bandwidth", "1 MB/s to 1 PB/s"});
  d = memories_and_switches(1, 0);
  expect_input_error([&] { Topology{d}; }, {"memory 'g0'", "unreachable"});
  d.memories[1].processor->kernels = 3;
  expect_input_error([&] { Topology{d}; }, {"memory 'g0'", "no kernel times"});
}

}  // namespace
}  // namespace tilerail
