// Presets of single libraries: their copies, memory and prefetching.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "backends/fluid/copy_routes.hpp"
#include "backends/fluid/simulation.hpp"
#include "cost/copy_times.hpp"
#include "cost/estimate.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "sched/choose/device_sets.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

class Libraries : public OnTwoGpu {
 protected:
  /// Offsets of the tiles written by copies from a memory to another.
  std::set<int64_t> written(const Plan& plan, MemoryId src, MemoryId dst) {
    std::set<int64_t> offsets;
    for (const Op& op : plan.ops) {
      const Queue& queue = plan.queue(op.queue);
      if (op.kind == OpKind::copy && queue.src == src && queue.dst == dst)
        offsets.insert(plan.buffer(plan.result(op).buffer).offset);
    }
    return offsets;
  }
};

TEST_F(Libraries, CublasxtFetchesBothInputsOfEveryKernelFromTheirHome) {
  // 3 x 3 x 3 tiles of 256^2 doubles: 27 kernels with A and B each, and 9 tiles of C in
  // and out.
  const Plan made = plan(cube(768), policy("cublasxt", {"tile=256"}), {gpu0, gpu1});
  const double tile = 256 * 256 * 8;
  EXPECT_EQ(moved(made, host, gpu0) + moved(made, host, gpu1), (2 * 27 + 9) * tile);
  EXPECT_EQ(moved(made, gpu0, host) + moved(made, gpu1, host), 9 * tile);
  EXPECT_EQ(moved(made, gpu0, gpu1) + moved(made, gpu1, gpu0), 0);
}

TEST_F(Libraries, InputBuffersBoundHowManyTilesOfAnInputAGpuHolds) {
  GemmProblem p = cube(2048);
  p.place_b = p.place_c = gpu0;  // only A is copied, in 8 x 8 x 8 kernels
  EXPECT_EQ(written(plan(p, policy("cublasxt", {"tile=256"})), host, gpu0).size(), 2);
  EXPECT_EQ(
      written(plan(p, policy("cublasxt", {"tile=256", "caching=off(input-buffers=5)"})),
              host, gpu0)
          .size(),
      5);
}

TEST_F(Libraries, WithOneInputBufferACopyWaitsForTheKernelBefore) {
  GemmProblem p = cube(2048);
  p.place_b = p.place_c = gpu0;
  const auto seconds = [&](const Policy& how) {
    return makespan_of(simulate_fluid(plan(p, how), machine));
  };
  EXPECT_GT(seconds(policy("cublasxt", {"tile=256", "caching=off(input-buffers=1)"})),
            seconds(policy("cublasxt", {"tile=256"})));
}

TEST_F(Libraries, CocopeliaRunsOnTheFirstGpuAlone) {
  const Plan alone = plan(cube(1024), policy("cocopelia"), {gpu1, gpu0});
  EXPECT_EQ(alone.devices, std::vector{gpu1});
  EXPECT_EQ(alone.origin.given, (std::vector{gpu1, gpu0}));
  EXPECT_EQ(alone.ops.size(), plan(cube(1024), policy("cocopelia"), {gpu1}).ops.size());
  EXPECT_EQ(
      plan(cube(1024), policy("cocopelia", {"devices=all"}), {gpu1, gpu0}).devices.size(),
      2u);
}

TEST_F(Libraries, StagedCopiesPassOverTheHost) {
  GemmProblem p = cube(512);
  p.place_a = gpu1;
  const double tile = 256 * 256 * 8;
  const Plan direct = plan(p, policy("cublasxt", {"tile=256", "peer-copies=direct"}));
  EXPECT_EQ(moved(direct, gpu1, gpu0), 8 * tile);
  EXPECT_EQ(direct.peak_bytes[host.index()], 0);
  const Plan staged = plan(p, policy("cublasxt", {"tile=256"}));
  EXPECT_EQ(moved(staged, gpu1, gpu0), 0);
  EXPECT_EQ(moved(staged, gpu1, host), 8 * tile);
  EXPECT_EQ(moved(staged, host, gpu0), moved(direct, host, gpu0) + 8 * tile);
  EXPECT_EQ(staged.peak_bytes[host.index()], 2 * tile);
}

TEST_F(Libraries, StagedTilesOfCComeAndGoOverTheHost) {
  GemmProblem p = cube(512);
  p.place_c = gpu1;
  const Plan staged = plan(p, policy("cublasxt", {"tile=256"}));
  const double c = 512 * 512 * 8;
  EXPECT_EQ(moved(staged, gpu1, host), c);
  EXPECT_EQ(moved(staged, host, gpu1), c);
  EXPECT_EQ(moved(staged, gpu0, gpu1) + moved(staged, gpu1, gpu0), 0);
}

TEST_F(Libraries, CocopeliaFetchesEveryTileOnceAndMergesRests) {
  const double all = 600.0 * 600 * 8;
  const Plan made =
      plan(cube(600), policy("cocopelia", {"tile=256"}));  // tiles of 256 and 344
  EXPECT_EQ(moved(made, host, gpu0), 3 * all);
  EXPECT_EQ(moved(made, gpu0, host), all);
  EXPECT_EQ(count(made, OpKind::gemm), 8);
}

/// Two GPUs with a link to the host each, and no link between them.
Topology gpus_apart() {
  auto d = small_machine::memories_and_switches(2, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (const char* gpu : {"g0", "g1"}) small_machine::add_links(d, "h", gpu, 10);
  return Topology{d};
}

// Without links between GPUs, tiles of B go from gpu1 to gpu0, and C goes home, over the
// host.
TEST_F(Libraries, StagedCopiesNeedNoRouteBetweenGpus) {
  const Topology apart = gpus_apart();
  GemmProblem p = cube(1024);
  p.place_a = p.place_c = gpu0, p.place_b = gpu1;
  for (const char* name : {"cublasxt", "gemmex", "xkblas", "blasx", "tilerail"}) {
    const Plan made = plan_gemm(p, apart, apart.gpus(),
                                policy(name, {"tile=256", "peer-copies=staged"}));
    validate(made, apart);
    EXPECT_EQ(moved(made, gpu0, gpu1) + moved(made, gpu1, gpu0), 0) << name;
    EXPECT_GT(moved(made, gpu1, host), 0) << name;
    EXPECT_GT(makespan_of(simulate_fluid(made, apart)).value, 0) << name;
  }
}

// Searches, selections and link-map routing use routes over the host.
TEST_F(Libraries, GpusThatAHostJoinsCanBeChosen) {
  const Topology apart = gpus_apart();
  GemmProblem p = cube(2048);
  p.place_c = gpu0;
  EXPECT_EQ(supplied_devices(p, apart, apart.gpus()), std::vector{gpu0});
  EXPECT_EQ(
      supplied_devices(p, apart, apart.gpus(), ReturnPath::direct, PeerCopies::staged),
      apart.gpus());
  EXPECT_EQ(plan_gemm(p, apart, apart.gpus(), policy("tilerail", {"peer-copies=staged"}))
                .devices.size(),
            2u);
  p.place_a = gpu1;
  for (const char* way : {"devices=best", "devices=search", "routing=link-map"}) {
    const Plan made =
        plan_gemm(p, apart, apart.gpus(),
                  policy("gemmex", {"tile=512", "peer-copies=staged", way}));
    validate(made, apart);
    EXPECT_GT(moved(made, gpu1, host), 0) << way;
  }
}

// Only a tile of A is copied, once, without write-backs; GPU 0 gets 12.33 GB/s alone,
// less during a copy to the host.
TEST_F(Libraries, DuplexRatesEqualRatesOfOppositeCopies) {
  const Topology testbed = shipped("cocopelia-testbed-2");
  const MemoryId home = testbed.hosts()[0], gpu = testbed.gpus()[0];
  GemmProblem p = cube(4096);
  p.place_b = p.place_c = gpu;
  const auto made = [&](const char* rates) {
    return plan_gemm(p, testbed, {{gpu}}, policy("gemmex", {"tile=4096", rates}));
  };
  const std::array<std::pair<MemoryId, MemoryId>, 2> both{{{home, gpu}, {gpu, home}}};
  const double bytes = 4096.0 * 4096 * 8, alone = testbed.pair_rate(home, gpu).value,
               beside = concurrent_rates(testbed, both)[0].value;
  ASSERT_LT(beside, 0.9 * alone);
  const Resources resources{testbed};
  for (const bool estimated : {false, true}) {
    const auto seconds = [&](const Plan& plan) {
      return estimated ? estimate_plan(plan, testbed, resources).makespan.value
                       : makespan_of(simulate_fluid(plan, testbed)).value;
    };
    const double longer =
        seconds(made("copy-rates=duplex")) - seconds(made("copy-rates=alone"));
    EXPECT_NEAR(longer / (bytes / beside - bytes / alone), 1, 1e-3) << estimated;
  }
}

// All other GPUs also copy both ways, but not during a staged copy.
TEST_F(Libraries, StagedCopiesOverlapOnlyOppositeCopiesOfTheirGpu) {
  const Topology node = shipped("clx-ai");
  const MemoryId home = node.hosts()[0], gpu = node.gpus()[0];
  const auto all = duplex_rate(node, home, gpu, node.gpus(), false);
  EXPECT_LT(all, duplex_rate(node, home, gpu, node.gpus(), true));
  EXPECT_EQ(duplex_rate(node, home, gpu, node.gpus(), true),
            duplex_rate(node, home, gpu, {}, false));
  EXPECT_EQ(duplex_rate(node, gpu, node.gpus()[1], node.gpus(), false), std::nullopt)
      << "no host";
}

// Alone a copy gets 10 GB/s; with copies of both GPUs in both directions 60 / 4, above
// the rate of one copy.
TEST_F(Libraries, DuplexRatesAboveTheRateOfOneCopyAreLimitsToo) {
  auto d = small_machine::memories_and_switches(2, 1);
  const auto [out, in] = small_machine::add_links(d, "h", "s0", 100);
  for (const char* gpu : {"g0", "g1"}) small_machine::add_links(d, "s0", gpu, 100);
  small_machine::add_group(d, "memory", {out}, {in}).capacity =
      small_machine::capacity({{1, 10}, {4, 60}, {8, 200}});
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1000}})};
  const Topology rising{std::move(d)};
  for (const bool duplex : {true, false}) {
    const Plan made = plan_gemm(
        cube(1024), rising, rising.gpus(),
        policy("cublasxt",
               {"tile=512", duplex ? "copy-rates=duplex" : "copy-rates=alone"}));
    const CopyRoutes routes{made, rising, PlanKernelCosts{made, rising}};
    ASSERT_FALSE(routes.flow_routes().empty());
    for (const FlowRoute& route : routes.flow_routes()) {
      ASSERT_EQ(route.cap.has_value(), duplex);
      EXPECT_NEAR(route.cap.value_or(Rate{15e9}).value, 15e9, 1e-3);
    }
  }
}

}  // namespace
}  // namespace tilerail::testing
