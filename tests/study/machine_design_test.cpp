// Machines written by `tilerail topo new`.
#include "study/design/machine_design.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

const std::string kernels = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";

Rate pair(const Topology& machine, const std::string& from, const std::string& to) {
  return machine.pair_rate(machine.find_memory(from).value(),
                           machine.find_memory(to).value());
}

TEST(MachineDesign, IslandsHaveNvlinkInsideAndTheBridgeBetweenThem) {
  const std::string text = design_machine({.gpus = "16",
                                           .kernels = kernels,
                                           .sockets = "4",
                                           .islands = "2",
                                           .pcie = "50 GB/s",
                                           .nvlink = "450",
                                           .bridge = "100"});
  const Topology machine = read_topology(text, "new.toml");
  EXPECT_EQ(machine.gpus().size(), 16U);
  EXPECT_EQ(machine.hosts().size(), 4U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu7"), Rate{450e9});
  EXPECT_EQ(pair(machine, "gpu0", "gpu8"), Rate{100e9});
  EXPECT_EQ(pair(machine, "host3", "gpu0"), Rate{50e9});
  EXPECT_EQ(machine
                .route(machine.find_memory("host1").value(),
                       machine.find_memory("gpu4").value())
                .size(),
            2U);
  EXPECT_EQ(machine.groups().size(), 4U + 3U);  // one per host memory, one for all
}

TEST(MachineDesign, WithoutABridgeIslandsReachEachOtherOverPcie) {
  const Topology machine = read_topology(design_machine({.gpus = "4",
                                                         .kernels = kernels,
                                                         .islands = "2",
                                                         .pcie = "20 GB/s",
                                                         .nvlink = "300"}),
                                         "new.toml");
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{300e9});
  EXPECT_EQ(pair(machine, "gpu0", "gpu3"), Rate{20e9});
}

TEST(MachineDesign, SharedUplinksHavePcieSwitches) {
  const Topology machine = read_topology(design_machine({.gpus = "8",
                                                         .kernels = kernels,
                                                         .sockets = "2",
                                                         .uplink_gpus = "2",
                                                         .pcie = "4"}),
                                         "new.toml");
  const auto route = machine.route(machine.find_memory("host1").value(),
                                   machine.find_memory("gpu7").value());
  ASSERT_EQ(route.size(), 3U);
  EXPECT_EQ(machine.link(route[1]).name, "cpu1->plx3");
  EXPECT_EQ(machine.link(route[2]).bandwidth, Rate{31.5e9 * 0.87});
}

TEST(MachineDesign, TheFileStatesThatManySocketsShareASwitch) {
  for (const auto& [hosts, links] : {std::pair{8, 8 * 7}, {9, 9 * 2}}) {
    const std::string count = std::to_string(hosts);
    const std::string text = design_machine(
        {.gpus = count, .kernels = kernels, .sockets = count, .socket_link = "100"});
    const Topology machine = read_topology(text, "new.toml");
    EXPECT_EQ(std::ranges::count(machine.links(), Rate{100e9}, &Link::bandwidth), links);
    EXPECT_EQ(text.find("More than 8:") != std::string::npos, hosts > 8);
  }
}

TEST(MachineDesign, PcieHasTheGenerationOfTheGpus) {
  const auto rate = [](const std::string& machine, const std::string& pcie) {
    const std::string gpus = TILERAIL_SOURCE_DIR "/topologies/" + machine + ".toml";
    return pair(
        read_topology(design_machine({.gpus = "1", .kernels = gpus, .pcie = pcie}),
                      "new.toml"),
        "host", "gpu0");
  };
  EXPECT_EQ(rate("karolina-hgx-a100", ""), rate("karolina-hgx-a100", "4"));
  EXPECT_EQ(rate("clx-ai", ""), rate("clx-ai", "3"));
  EXPECT_EQ(rate("hgx-h100-1", ""), rate("hgx-h100-1", "5"));
}

TEST(MachineDesign, HostMemoryHasTheRatesOfImportersAndIsMarkedAsAssumed) {
  const auto host = [](const DesignText& text) {
    const Topology machine = read_topology(design_machine(text), "new.toml");
    const CapacityGroup& both = machine.groups().front();
    EXPECT_EQ(machine.links()[0].source, "host memory");
    EXPECT_EQ(both.source, "host memory");
    return std::array{machine.links()[0].bandwidth.value,
                      machine.links()[1].bandwidth.value,
                      both.both_busy->saturated().value, both.forward_share.value()};
  };
  const auto expected = [](const assumptions::HostRates& rates) {
    return std::array{rates.read.value, rates.written.value, rates.both.value,
                      rates.read_share};
  };
  const auto near = [](const auto& a, const auto& b) {
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i] / b[i], 1, 1e-3);
  };
  for (const int generation : {3, 4, 5, 6})
    near(host({.gpus = "1", .kernels = kernels, .pcie = std::to_string(generation)}),
         expected(assumptions::host_rates(generation)));
  near(host({.gpus = "1", .kernels = kernels, .host_memory = "80"}),
       expected(assumptions::host_rates(Rate{80e9})));
  near(host({.gpus = "1", .kernels = kernels, .pcie = "26 GB/s"}),
       expected(assumptions::host_rates(4)));
}

/// Counts have the form 2^a 3^b, small and large.
TEST(MachineDesign, EveryDesignLoadsAndEqualsItsFlatFile) {
  std::mt19937 random{7};
  const auto one_of = [&](std::vector<size_t> values) {
    return values[random() % values.size()];
  };
  for (int i = 0; i < 60; ++i) {
    const size_t hosts = one_of({1, 2, 3, 4, 8, 16}), islands = one_of({1, 2, 4, 6, 16}),
                 uplink = one_of({1, 2, 3});
    const size_t gpus = hosts * islands * uplink * one_of({1, 2});
    DesignText text{.gpus = std::to_string(gpus),
                    .kernels = kernels,
                    .sockets = std::to_string(hosts)};
    text.uplink_gpus = std::to_string(uplink);
    text.pcie = fmt::format("{}", one_of({3, 4, 5, 6, 7}));
    if (islands > 1 || random() % 2 == 0)
      text.nvlink = fmt::format("{}.5", one_of({20, 300, 900}));
    if (islands > 1) text.islands = std::to_string(islands);
    if (islands > 1 && random() % 2 == 0)
      text.bridge = fmt::format("{} GB/s", one_of({10, 1800}));
    const std::string file = design_machine(text);
    const Topology machine = read_topology(file, "new.toml");
    ASSERT_EQ(machine.gpus().size(), gpus);
    EXPECT_TRUE(machine.has_route(machine.gpus().front(), machine.gpus().back()));
    const std::string flat = to_toml(machine.description());
    ASSERT_EQ(to_toml(read_topology(flat, "flat.toml").description()), flat);
  }
}

TEST(MachineDesign, KernelsComeWithTheirSourcesAndIssueCosts) {
  const GpuKind kind = find_gpu_kind(kernels);
  EXPECT_EQ(kind.kernels.name, "flat");
  EXPECT_FALSE(kind.sources.empty());
  const Topology machine =
      read_topology(design_machine({.gpus = "2", .kernels = kernels}), "new.toml");
  EXPECT_EQ(machine.description().issue.per_op, kind.issue.per_op);
  EXPECT_EQ(machine.description().memories.back().capacity, kind.gpu.capacity);
  EXPECT_EQ(find_gpu_kind(TILERAIL_SOURCE_DIR "/topologies/clx-ai-hetero.toml:v100-half")
                .kernels.name,
            "v100-half");
}

TEST(MachineDesign, KernelsAreFoundByTheWordsOfTheirName) {
  ::setenv("TILERAIL_TOPOLOGIES", TILERAIL_SOURCE_DIR "/topologies", 1);
  for (const auto& [text, table] : {std::pair{"h200", "h200"},
                                    {"h100", "nvidia-h100-80gb-hbm3"},
                                    {"h100-80gb", "nvidia-h100-80gb-hbm3"},
                                    {"v100", "v100"},
                                    {"half", "v100-half"},
                                    {"a100", "a100"}})
    EXPECT_EQ(find_gpu_kind(text).kernels.name, table) << text;
  for (const char* text : {"a40", "h10", "100", "h100-hbm3", "-", ""})
    expect_input_error([&] { find_gpu_kind(text); },
                       {"kernels: ", "is not a kind of GPU"});
  ::unsetenv("TILERAIL_TOPOLOGIES");
}

TEST(MachineDesign, MismatchedOptionsAreRefusedByName) {
  const auto refused = [](DesignText text, const std::vector<std::string>& words) {
    if (text.kernels.empty()) text.kernels = kernels;
    expect_input_error([&] { design_machine(text); }, words);
  };
  refused({}, {"gpus: is missing; expected the number of GPUs"});
  refused({.gpus = "0"}, {"gpus: '0' is not an integer from 1 to 4096"});
  refused({.gpus = "6", .sockets = "4"},
          {"sockets: '4' does not divide the 6 GPUs; expected a divisor of 6"});
  refused({.gpus = "6", .islands = "4", .nvlink = "1"},
          {"islands: '4' does not divide the 6 GPUs"});
  refused({.gpus = "6", .islands = "2"},
          {"islands: islands are joined by NVLink; expected its rate"});
  refused({.gpus = "6", .nvlink = "5", .bridge = "5"}, {"bridge: there is one island"});
  refused({.gpus = "6", .socket_link = "100"}, {"socket-link: there is one socket"});
  refused({.gpus = "6", .uplink_gpus = "4"},
          {"per-uplink: '4' does not divide the 6 GPUs of a socket"});
  refused({.gpus = "6", .pcie = "2"}, {"pcie: '2' is not a generation of PCIe",
                                       "3 to 7, or a rate such as '50 GB/s'"});
  refused({.gpus = "6", .pcie = "50"}, {"pcie: '50' is not a generation of PCIe"});
  refused({.gpus = "6", .nvlink = "450 Gb"}, {"nvlink: '450 Gb' has no known unit"});
  refused({.gpus = "6", .nvlink = "0"},
          {"nvlink: '0' is out of range; expected 1 MB/s to 1 PB/s"});
  refused({.name = "a\nb", .gpus = "6"}, {"name: 'a\\x0ab' is not a name"});
  refused({.gpus = "6", .kernels = "h2000"},
          {"kernels: 'h2000' is not a kind of GPU; expected a machine"});
  refused({.gpus = "6", .kernels = TILERAIL_SOURCE_DIR "/topologies/clx-ai-hetero.toml"},
          {"kernels: clx-ai-hetero has the kernels v100, v100-half, v100-5-of-7"});
}

}  // namespace
}  // namespace tilerail::study
