#include "backends/cuda/describe/device_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/machine/concurrent_rates.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "plan/validate.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::cuda {
namespace {

MachineFacts machine(size_t gpus, PeerLink peers) {
  MachineFacts facts;
  DeviceFacts device;
  device.name = "GPU";
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.clock = 1.98e9;
  device.memory_bandwidth = 4.8e12;
  device.memory_bytes = int64_t{80} << 30;
  device.copy_engines = 3;
  device.pcie = 63e9;
  facts.devices.assign(gpus, device);
  facts.peers.assign(gpus, std::vector<PeerLink>(gpus, peers));
  return facts;
}

TEST(DeviceTopology, EveryKindOfMachineCanBePlannedFor) {
  for (const size_t gpus : {1u, 2u, 4u, 8u}) {
    for (const PeerLink peers : {PeerLink::none, PeerLink::pcie, PeerLink::nvlink}) {
      const Topology topology{describe(machine(gpus, peers))};
      ASSERT_EQ(topology.gpus().size(), gpus);
      for (const DType dtype :
           {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32}) {
        GemmProblem problem;
        problem.m = problem.n = problem.k = 4096;
        problem.dtype = dtype;
        const Plan plan =
            plan_gemm(problem, topology, topology.gpus(), any_preset("tilerail"));
        EXPECT_NO_THROW(validate(plan, topology));
        EXPECT_FALSE(plan.ops.empty());
      }
    }
  }
}

TEST(DeviceTopology, OnlyDevicesWithPeerAccessAreJoined) {
  MachineFacts facts = machine(3, PeerLink::none);
  facts.peers[0][1] = facts.peers[1][0] = PeerLink::nvlink;
  const Topology topology{describe(facts)};
  const auto& gpus = topology.gpus();
  EXPECT_TRUE(topology.has_route(gpus[0], gpus[1]));
  EXPECT_FALSE(topology.has_route(gpus[0], gpus[2]));
  EXPECT_GT(topology.pair_rate(gpus[0], gpus[1]),
            topology.pair_rate(topology.hosts()[0], gpus[1]));
}

TEST(DeviceTopology, PeerCopiesOverPcieShareThePortWithHostCopies) {
  const Topology topology{describe(machine(2, PeerLink::pcie))};
  const MemoryId host = topology.hosts()[0], g0 = topology.gpus()[0],
                 g1 = topology.gpus()[1];
  const std::pair<MemoryId, MemoryId> flows[] = {{host, g1}, {g0, g1}};
  const auto rates = concurrent_rates(topology, flows);
  EXPECT_NEAR((rates[0] + rates[1]) / topology.pair_rate(host, g1), 1, 1e-9);
}

TEST(DeviceTopology, MarksFiguresAsAssumedAndSurvivesAFile) {
  const Topology::Description description = describe(machine(2, PeerLink::nvlink));
  EXPECT_THAT(description.sources, ::testing::Each(::testing::Field(
                                       "kind", &Source::kind, Source::Kind::assumed)));
  const Topology again = read_topology(to_toml(description), "automatic.toml");
  EXPECT_EQ(to_toml(again.description()), to_toml(Topology{description}.description()));
}

TEST(DeviceTopology, UnknownGenerationsAndSpeedsHaveFiguresToo) {
  MachineFacts facts = machine(2, PeerLink::pcie);
  for (DeviceFacts& device : facts.devices) {
    device.compute_capability = 50;
    device.clock = device.memory_bandwidth = 0;
    device.pcie.reset();
    device.copy_engines = 1;
  }
  EXPECT_NO_THROW(Topology{describe(facts)});
}

}  // namespace
}  // namespace tilerail::cuda
