// Host memories of imported machines: numbers, sockets and rates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "model/base/error.hpp"
#include "model/import/machine_builder.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "tests/support/imported.hpp"

namespace tilerail {
namespace {

using namespace imported;

/// Two GPUs with relation `cell` and their affinities.
Topology two_gpus(const std::string& cell, const std::string& first,
                  const std::string& second) {
  return Topology{import_nvidia_smi(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t" + cell +
          "\t0-7\t" + first + "\t\tN/A\nGPU1\t" + cell + "\t X \t8-15\t" + second +
          "\t\tN/A\n",
      "topo.txt", kind(), {})};
}

TEST(HostsOfNvidiaSmi, HaveTheNumbersOfTheirDomains) {
  const Topology machine = two_gpus("SYS", "3", "0");
  EXPECT_EQ(way(machine, "host3", "gpu0"), "host3->cpu3 cpu3->gpu0");
  EXPECT_EQ(way(machine, "host0", "gpu1"), "host0->cpu0 cpu0->gpu1");
}

TEST(HostsOfNvidiaSmi, HaveTheFirstNumberOfSeveralDomains) {
  EXPECT_TRUE(two_gpus("SYS", "4-7", "0-3").find_memory("host4"));
  EXPECT_TRUE(two_gpus("SYS", "2,5", "1").find_memory("host2"));
}

TEST(HostsOfNvidiaSmi, AreNumberedByTheirOrderIfTheFileHasNoNumbers) {
  EXPECT_TRUE(two_gpus("SYS", "N/A", "N/A").find_memory("host1"));
}

TEST(HostsOfNvidiaSmi, OfOneSocketHaveFasterLinksThanHostsOfTwoSockets) {
  EXPECT_EQ(pair(two_gpus("NODE", "0", "1"), "host1", "gpu0"), ImportRates{}.pcie);
  const Topology one = two_gpus("NODE", "0", "1"), two = two_gpus("SYS", "0", "1");
  const auto between = [](const Topology& machine) {
    return *std::ranges::find(machine.links(), "cpu0->cpu1", &Link::name);
  };
  EXPECT_EQ(between(one).bandwidth, assumptions::domains);
  EXPECT_EQ(between(one).latency, assumptions::domain_latency);
  EXPECT_EQ(between(two).bandwidth, assumptions::sockets);
  EXPECT_EQ(between(two).latency, assumptions::socket_latency);
}

TEST(HostsOfNvidiaSmi, OfOneSocketShareTheMemoryOfTheSocket) {
  const Rate half = two_gpus("NODE", "0", "1").links().front().bandwidth;
  EXPECT_EQ(half * 2, two_gpus("SYS", "0", "1").links().front().bandwidth);
}

std::string nccl(const std::string& first, const std::string& second) {
  const auto cpu = [](const std::string& number, int gpu) {
    return fmt::format(
        "<cpu numaid=\"{}\"><pci busid=\"0000:0{}:00.0\"><gpu dev=\"{}\"/></pci></cpu>",
        number, gpu, gpu);
  };
  return "<system version=\"1\">" + cpu(first, 0) + cpu(second, 1) + "</system>";
}

TEST(HostsOfNccl, HaveTheNumbersOfTheirDomains) {
  const Topology machine{import_nccl_xml(nccl("3", "1"), "n.xml", kind(), {})};
  EXPECT_EQ(way(machine, "host3", "gpu0"), "host3->cpu3 cpu3->gpu0");
  EXPECT_EQ(way(machine, "host1", "gpu1"), "host1->cpu1 cpu1->gpu1");
}

TEST(HostsOfNccl, NoDomainHasTheNumberZeroOfAMachineWithoutDomains) {
  EXPECT_THROW(import_nccl_xml(nccl("-1", "0"), "n.xml", kind(), {}), InputError);
  EXPECT_THROW(import_nccl_xml(nccl("1", "01"), "n.xml", kind(), {}), InputError);
}

/// Four domains, two in each socket.
TEST(MachineBuilder, DomainsShareTheLinksBetweenTwoSockets) {
  MachineBuilder machine{"m", "", kind()};
  std::vector<MachineBuilder::Domain> domains;
  for (size_t i = 0; i < 4; ++i) {
    const VertexId cpu = machine.add_domain(std::to_string(i),
                                            assumptions::host_rates(Rate{1e12}), "flat");
    domains.push_back({cpu, i / 2});
    machine.join(cpu, machine.add_gpu(fmt::format("gpu{}", i), int(i), "flat"),
                 Rate{80e9}, Seconds{1e-6}, "flat");
  }
  machine.join_domains(domains, Rate{100e9}, "flat");
  Topology::Description d = machine.description();
  d.sources.push_back({"flat", Source::Kind::assumed, "for a test"});
  const Topology t{d};
  const auto memory = [&](const std::string& name) {
    return t.find_memory(name).value();
  };
  using Flows = std::vector<std::pair<MemoryId, MemoryId>>;
  const auto across = concurrent_rates(
      t, Flows{{memory("host0"), memory("gpu2")}, {memory("host1"), memory("gpu3")}});
  EXPECT_EQ(across[0] + across[1], Rate{100e9});
  const auto within = concurrent_rates(
      t, Flows{{memory("host0"), memory("gpu1")}, {memory("host1"), memory("gpu0")}});
  EXPECT_EQ(within[0] + within[1], Rate{160e9});
  const auto back = concurrent_rates(
      t, Flows{{memory("host0"), memory("gpu2")}, {memory("gpu2"), memory("host0")}});
  EXPECT_EQ(back[0] + back[1], Rate{160e9});
}

/// Rates of all GPUs together: reads, writes, and both.
std::array<double, 3> all_busy(const Topology& machine) {
  std::vector<std::pair<MemoryId, MemoryId>> in, out, both;
  for (const MemoryId gpu : machine.gpus()) {
    const MemoryId host = machine.find_memory("h*").value_or(machine.hosts().front());
    in.emplace_back(host, gpu), out.emplace_back(gpu, host);
  }
  both = in;
  both.insert(both.end(), out.begin(), out.end());
  const auto sum = [&](const auto& flows) {
    Rate total{0};
    for (const Rate rate : concurrent_rates(machine, flows)) total += rate;
    return total.value;
  };
  return {sum(in), sum(out), sum(both)};
}

/// `gpus` in equal parts below sockets; groups of `shared` GPUs have an uplink of this
/// generation.
Topology assumed(int sockets, int gpus, int shared, int generation) {
  MachineBuilder machine{"m", "", kind()};
  machine.source("flat", Source::Kind::assumed, "for a test");
  const Rate pcie = assumptions::pcie[size_t(generation - assumptions::first_pcie)] *
                    assumptions::reached;
  const auto host = ImportRates{.generation = generation}.host(false);
  std::vector<MachineBuilder::Domain> domains;
  VertexId above{0};
  for (int gpu = 0; gpu < gpus; ++gpu) {
    if (gpu % (gpus / sockets) == 0)
      domains.push_back({machine.add_domain(std::to_string(domains.size()), host, "flat"),
                         domains.size()});
    if (shared == 1) above = domains.back().vertex;
    if (shared > 1 && gpu % shared == 0) {
      above = machine.add_switch(fmt::format("plx{}", gpu), "flat");
      machine.join(domains.back().vertex, above, pcie, Seconds{1e-6}, "flat");
    }
    machine.join(above, machine.add_gpu(fmt::format("gpu{}", gpu), gpu, "flat"), pcie,
                 Seconds{1e-6}, "flat");
  }
  machine.join_domains(domains, assumptions::sockets, "flat");
  return Topology{machine.description()};
}

/// docs/machines.md#host-memory contains these values. The shares come from the first
/// machine.
TEST(AssumedHostMemory, EqualsMeasuredMachines) {
  const auto near = [](const Topology& machine, const char* measured,
                       std::array<double, 3> over) {
    const auto there = all_busy(test::shipped(measured)), here = all_busy(machine);
    for (size_t i = 0; i < there.size(); ++i)
      EXPECT_NEAR(here[i] / there[i], over[i], 0.01)
          << measured << " " << i << ": " << here[i] << " " << there[i];
  };
  near(assumed(2, 8, 1, 5), "hgx-h200", {1.00, 1.00, 1.00});
  near(assumed(2, 4, 1, 5), "hgx-h200-4", {0.99, 0.97, 0.93});
  near(assumed(1, 2, 1, 5), "hgx-h200-2", {1.10, 1.02, 0.98});
  near(assumed(1, 2, 1, 5), "hgx-h100-2", {1.03, 0.97, 0.93});
  near(assumed(2, 8, 2, 4), "karolina-hgx-a100", {1.25, 1.10, 1.14});
}

TEST(AssumedHostMemory, IsMarkedAsAssumed) {
  const Topology machine = two_gpus("SYS", "0", "1");
  EXPECT_EQ(source_kind(machine, "host0->cpu0"), Source::Kind::assumed);
  EXPECT_EQ(std::ranges::find(machine.links(), "host0->cpu0", &Link::name)->source,
            "host memory");
}

TEST(AssumedHostMemory, OfACoherentProcessorIsAsFastAsItsGpu) {
  const Topology machine{import_nvidia_smi(
      "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-71\t0\t\t1\n",
      "topo.txt", kind(), {})};
  EXPECT_EQ(pair(machine, "host0", "gpu0"), assumptions::c2c);
  EXPECT_EQ(pair(machine, "gpu0", "host0"), assumptions::c2c);
}

TEST(PcieGeneration, FollowsTheGpu) {
  for (const auto& [name, generation] : {std::pair{"a100", 4},
                                         {"nvidia-a100-sxm4-40gb", 4},
                                         {"A100_PCIE", 4},
                                         {"v100", 3},
                                         {"v100-5-of-7", 3},
                                         {"tesla-p100", 3},
                                         {"k40", 3},
                                         {"h100", 5},
                                         {"nvidia-h200", 5},
                                         {"nvidia-a10", 4},
                                         {"b300", 6},
                                         {"flat", 5},
                                         {"", 5}})
    EXPECT_EQ(gpu_model(name).pcie, generation) << name;
}

TEST(PcieGeneration, OfARateIsTheFirstGenerationWithTheRate) {
  EXPECT_EQ(pcie_generation(Rate{12e9}), 3);
  EXPECT_EQ(pcie_generation(Rate{26e9}), 4);
  EXPECT_EQ(pcie_generation(Rate{55e9}), 5);
  EXPECT_EQ(pcie_generation(Rate{1e15}), 7);
}

}  // namespace
}  // namespace tilerail
