// GEMM with the cores of hosts as processors, planned and simulated.
#include <gtest/gtest.h>

#include <span>

#include "tests/support/machines.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

TEST(Cores, NamesAvoidSwitches) {
  const Topology summit = shipped("summit-node");  // has switches cpu0 and cpu1
  EXPECT_EQ(summit.processors().size(), 8U);
  EXPECT_EQ(summit.processor_name(summit.hosts()[1]), "cores1");
  EXPECT_EQ(summit.find_processor("cores0"), summit.hosts()[0]);
  EXPECT_EQ(summit.find_processor("3"), summit.find_gpu(3));
  EXPECT_EQ(summit.find_processor("gpu3"), summit.find_gpu(3));
  EXPECT_FALSE(summit.find_processor("cpu0"));
  auto d = small_machine::unlinked("h", "g", 1, {});
  d.memories[0].processor.emplace();
  small_machine::add_links(d, "h", "g0", 10);
  EXPECT_EQ(Topology{d}.processor_name(MemoryId{0}), "cpu0");
}

TEST(Cores, ComputeWithoutGpus) {
  auto d = small_machine::unlinked("h", "g", 0, {});
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1000}})};
  d.memories[0].processor.emplace();
  const Topology machine{d};
  for (const char* effort : {"effort=fast", "effort=fixed", "effort=normal"}) {
    const Plan plan =
        judged(cube(1024), machine, machine.processors(), policy("tilerail", {effort}));
    EXPECT_EQ(plan.devices, machine.hosts());
    EXPECT_NEAR(simulated(plan, machine).value, 2e-12 * 1024 * 1024 * 1024 / 1000, 1e-9)
        << effort;
  }
}

TEST(Cores, NeverMakeAPlanSlower) {
  const Topology summit = shipped("summit-node");
  int used = 0;
  for (const int64_t side : {100, 1500, 4096})
    for (const char* effort : {"effort=fast", "effort=fixed"})
      for (const MemoryId place_c : {summit.hosts()[0], summit.gpus()[0]}) {
        GemmProblem p = cube(side);
        p.place_c = place_c;
        const auto plan_on = [&](std::span<const MemoryId> devices) {
          return judged(p, summit, devices, policy("tilerail", {effort}));
        };
        const Plan with = plan_on(summit.processors()), without = plan_on(summit.gpus());
        EXPECT_LE(simulated(with, summit), simulated(without, summit)) << side << effort;
        for (const MemoryId device : with.devices) used += summit.is_host(device);
      }
  EXPECT_GT(used, 0);
}

}  // namespace
}  // namespace tilerail::testing
