// The shipped machine files compared with their measured and published figures.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/machine/machine_facts.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/machine_rates.hpp"

namespace tilerail {
namespace {

using namespace machine_rates;
using ::testing::AnyOfArray, ::testing::Each, ::testing::Field, ::testing::IsSupersetOf;

// ------------------------------------------------------------------------------------------------
// every machine

TEST(Machines, EveryFileLoadsAndJoinsEveryPairOfMemoriesThatHoldMatrices) {
  std::set<std::string> found;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    if (file.path().extension() != ".toml") continue;
    SCOPED_TRACE(file.path().string());
    const Topology t = load_topology(file.path().string());
    EXPECT_EQ(t.name(), file.path().stem().string());
    found.insert(t.name());
    for (MemoryId gpu : t.gpus()) {
      for (size_t other = 0; other < t.memories().size(); ++other) {
        EXPECT_TRUE(t.has_route(gpu, MemoryId{other}) &&
                    t.has_route(MemoryId{other}, gpu))
            << other;
      }
      EXPECT_GT(t.kernels_of(gpu)
                    .gemm_time(1024, 1024, 1024, DType::f64, Trans::yes, Trans::no)
                    .value,
                0);
      EXPECT_TRUE(t.memory(gpu).capacity.has_value());
    }
  }
  EXPECT_THAT(found, IsSupersetOf({"clx-ai", "karolina-hgx-a100", "hgx-h200",
                                   "hgx-h200-4", "hgx-h200-4-plain", "meluxina-a100",
                                   "hgx-h200-2", "hgx-h100-1", "hgx-h100-2",
                                   "summit-node", "cocopelia-testbed-1",
                                   "cocopelia-testbed-2", "pcie-tree-8", "two-gpu"}));
}

TEST(Machines, EveryFigureHasAKnownSourceWithAText) {
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    const Topology t = load_topology(file.path().string());
    std::set<std::string> keys;
    for (const Source& source : t.description().sources) {
      keys.insert(source.key);
      EXPECT_GE(source.text.size(), 20u) << t.name() << ": " << source.key;
    }
    SCOPED_TRACE(t.name());
    const auto known = AnyOfArray(keys);
    EXPECT_THAT(t.links(), Each(Field(&Link::source, known)));
    EXPECT_THAT(t.groups(), Each(Field(&CapacityGroup::source, known)));
    for (const KernelTimes& kernels : t.description().kernels)
      EXPECT_THAT(kernels.gemm, Each(Field(&GemmCurve::source, known)));
  }
}

// -------------------------------------------------------------------------------------------------------
// CLX-AI

TEST(ClxAi, PairRatesAreThePublishedMatrix) {
  std::ifstream file{std::string{TILERAIL_SOURCE_DIR} +
                     "/python/tilerail/experiments/reference/clx_ai_link_map.csv"};
  std::string line, cell, dst;
  std::getline(file, line),
      std::getline(file, line);  // a remark, and "to" with the names of the sources
  std::vector<std::string> names;
  for (std::istringstream header{line}; std::getline(header, cell, ',');)
    names.push_back(cell);
  const Topology t = shipped("clx-ai");
  int pairs = 0;
  while (std::getline(file, line)) {
    std::istringstream row{line};
    std::getline(row, dst, ',');
    for (size_t i = 1; std::getline(row, cell, ','); ++i) {
      const std::string src = names.at(i);
      if (src == dst) continue;
      // 0 -> 6 is 8.53, but the other three pairs over the same switches are 9.22: one
      // link, so 8% off.
      const double share = dst == "gpu6" && src == "gpu0" ? 0.09 : 0.001;
      expect_near(alone(t, src, dst), std::stod(cell), share, src + "->" + dst);
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, 72);
}

TEST(ClxAi, TwoGpusOfAPairShareOneUplink) {
  const Topology t = shipped("clx-ai");
  expect_each_near(together(t, fetches({0, 2, 4, 6})), 12.3,
                   0.07);  // different pairs: nothing shared
  expect_each_near(together(t, fetches({0, 1})), 6.1,
                   0.05);  // transfers: 6.0 to 6.1 each
  expect_each_near(together(t, fetches(all_eight)), 6.1,
                   0.05);  // the same with all pairs busy
  expect_each_near(together(t, write_backs(all_eight)), 6.4,
                   0.05);                                        // transfers: 6.4 each
  expect_near(total(t, both_ways({0}, {0})), 17.9, 0.05);        // 9.7 + 8.2
  expect_near(total(t, both_ways({0, 1}, {0, 1})), 19.9, 0.08);  // 2 x 5.0 + 2 x 4.9
  expect_each_near(together(t, {{"gpu0", "gpu3"}, {"gpu3", "gpu0"}}), 47.26,
                   0.001);  // NVLink is full duplex
}

TEST(ClxAi, PeerCopiesBetweenTheNumaNodesShareEightGigabytes) {
  const Topology t = shipped("clx-ai");
  expect_near(total(t, {{"gpu2", "gpu5"}, {"gpu3", "gpu4"}}), 8.0,
              0.001);  // transfers: 4.4 + 4.5
  expect_near(
      total(t, {{"gpu0", "gpu5"}, {"gpu1", "gpu4"}, {"gpu2", "gpu7"}, {"gpu3", "gpu6"}}),
      8.0, 0.001);
  expect_each_near(together(t, {{"gpu2", "gpu5"}, {"gpu3", "gpu6"}}), 4.0,
                   0.001);  // from one pair to two
}

// ------------------------------------------------------------------------------------------------
// other machines

TEST(Machines, GpusHaveOwnLinksIfTheirCopiesShareNoLinkWithHostCopies) {
  for (const char* name : {"karolina-hgx-a100", "hgx-h200", "hgx-h200-4", "meluxina-a100",
                           "hgx-h200-1", "hgx-h200-2", "hgx-h100-1", "hgx-h100-2"})
    EXPECT_TRUE(gpus_have_own_links(shipped(name))) << name;
  for (const char* name : {"clx-ai", "pcie-tree-8", "summit-node"})
    EXPECT_FALSE(gpus_have_own_links(shipped(name))) << name;
}

TEST(Meluxina, RatesEqualNvbandwidth) {
  const Topology t = shipped("meluxina-a100");
  expect_near(alone(t, "host", "gpu2"), 26.2, 0.01);
  expect_near(alone(t, "gpu2", "host"), 16.4, 0.01);
  expect_near(total(t, both_ways({1}, {1})), 7.3 + 14.67, 0.01);
  expect_near(alone(t, "gpu0", "gpu3"), 93.4, 0.001);
  expect_each_near(together(t, {{"gpu0", "gpu3"}, {"gpu3", "gpu0"}}), 92.8, 0.001);
  expect_near(tflops(t, 0, 8192, DType::f64), 19.5, 0.02);  // worker grid
}

TEST(Summit, CopiesBetweenSocketsPassBothProcessorsAndShareTheXBus) {
  const Topology t = shipped("summit-node");
  EXPECT_EQ(t.route(*t.find_memory("gpu0"), *t.find_memory("gpu1")).size(),
            1u);  // NVLink within a socket
  EXPECT_EQ(t.route(*t.find_memory("gpu0"), *t.find_memory("gpu4")).size(),
            3u);  // gpu0, cpu0, cpu1, gpu4
  expect_near(alone(t, "gpu0", "gpu1"), 50, 0.001);
  expect_near(alone(t, "gpu0", "gpu4"), 50, 0.001);
  expect_near(total(t, {{"gpu0", "gpu3"}, {"gpu1", "gpu4"}, {"gpu2", "gpu5"}}), 64,
              0.001);
  expect_near(total(t, {{"host0", "gpu0"}, {"host0", "gpu3"}, {"host0", "gpu4"}}),
              50 + 64, 0.001);
  expect_near(tflops(t, 0, 4096, DType::f64), 7.1, 0.02);
}

TEST(CocopeliaTestbeds, CopiesAndKernelsHaveMeasuredTimes) {
  const Topology one = shipped("cocopelia-testbed-1"),
                 two = shipped("cocopelia-testbed-2");
  expect_near(alone(one, "host", "gpu0"), 3.15, 0.001);
  expect_near(alone(one, "gpu0", "host"), 3.29, 0.001);
  expect_each_near(together(one, both_ways({0}, {0})), 2.89, 0.001);  // (2.94 + 2.84) / 2
  expect_near(tflops(one, 0, 2048, DType::f64),
              2 * 2.048 * 2.048 * 2.048e-3 / 1.488156e-2, 0.01);

  for (int g : {0, 1}) {
    expect_near(alone(two, "host", gpu(g)), 12.18, 0.02);  // CoCoPeLia table II
    expect_near(alone(two, gpu(g), "host"), 12.98, 0.02);
  }
  expect_near(total(two, both_ways({0}, {0})), 9.59 + 9.21, 0.01);
  expect_each_near(together(two, {{"gpu0", "gpu1"}, {"gpu1", "gpu0"}}), 48.1, 0.001);
  expect_near(alone(two, "gpu2", "gpu0"), 11.6, 0.01);
  expect_near(total(two, {{"gpu2", "gpu0"}, {"gpu0", "gpu2"}}), 9.5 + 7.95, 0.08);
  expect_near(tflops(two, 0, 2048, DType::f64), 6.13,
              0.01);  // fitted; dgemm-gpu0-NN alone has 6.72
  expect_near(tflops(two, 0, 2048, DType::f64, Trans::yes, Trans::no), 6.46,
              0.01);                                           // dgemm-gpu0-TN
  expect_near(tflops(two, 2, 4096, DType::f64), 0.148, 0.01);  // dgemm-gpu2-NN
}

TEST(PcieTree, PeerCopiesClimbOnlyToTheFirstCommonSwitch) {
  const Topology t = shipped("pcie-tree-8");
  EXPECT_EQ(t.route(*t.find_memory("gpu0"), *t.find_memory("gpu1")).size(), 2u);
  EXPECT_EQ(t.route(*t.find_memory("gpu0"), *t.find_memory("gpu2")).size(), 4u);
  EXPECT_EQ(t.route(*t.find_memory("gpu0"), *t.find_memory("gpu4")).size(), 5u);
  expect_each_near(together(t, {{"gpu0", "gpu1"}, {"host", "gpu2"}}), 24,
                   0.001);  // siblings leave the uplinks free
  expect_each_near(together(t, {{"gpu0", "gpu2"}, {"gpu1", "gpu3"}}), 12,
                   0.001);  // one uplink for two
  expect_near(total(t, {{"gpu0", "gpu4"}, {"gpu2", "gpu6"}}), 18,
              0.001);                                    // one socket link for two
  expect_near(total(t, fetches(all_eight)), 80, 0.001);  // 40 to each socket
}

}  // namespace
}  // namespace tilerail
