#include "model/published/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/support/workloads.hpp"

namespace tilerail::testing {
namespace {

using namespace test::workloads;

const Metric& metric(std::string_view name) {
  return *std::ranges::find(metrics, name, &Metric::name);
}

TEST(Workload, OneDeviceByHand) {
  const LinkMap map = two_gpus();
  const std::array<size_t, 1> first{0};
  const WorkloadProblem slow = gemm(2, 1), fast = gemm(0.1, 1);
  const Workload computes = WorkloadModel{slow, map}.predict(first);
  EXPECT_NEAR(computes.time.value, 2, 1e-8);
  EXPECT_NEAR(computes.energy.value, 600, 1e-6);
  EXPECT_EQ(computes.shares, std::vector{1.0});
  EXPECT_NEAR((WorkloadModel{fast, map}.predict(first).time.value), 0.3,
              1e-8);  // 3 GB at 10 GB/s
}

TEST(Workload, TwoDevicesShareInputsByHand) {
  // 1 x 2 grid: extra = (0 + 1) / 2 * 2 GB = 1 GB, half for each, from the other at 20
  // GB/s: with share s, in takes 3 GB s / 10 GB/s + 1 GB s / 20 GB/s = 0.35 s.
  const LinkMap map = two_gpus();
  const std::array<size_t, 2> both{0, 1};
  const WorkloadProblem bound_by_links = gemm(0.1, 0.1), bound_by_kernels = gemm(3, 1);
  const Workload links = WorkloadModel{bound_by_links, map}.predict(both);
  EXPECT_NEAR(links.time.value, 0.175, 1e-8);
  EXPECT_NEAR(links.shares[0], 0.5, 1e-8);
  // 3 s s0 = 1 s s1: a quarter and three quarters.
  const Workload kernels = WorkloadModel{bound_by_kernels, map}.predict(both);
  EXPECT_NEAR(kernels.time.value, 0.75, 1e-8);
  EXPECT_NEAR(kernels.shares[0], 0.25, 1e-8);
  EXPECT_NEAR(kernels.energy.value, 0.75 * 500, 1e-5);
}

TEST(Workload, ADeviceReadsItsOwnDataForFree) {
  WorkloadProblem p = gemm(0.1, 0.1);
  for (auto& operand : p.operands) operand.place = gpu0;
  const LinkMap map = two_gpus();
  EXPECT_NEAR((WorkloadModel{p, map}.predict(std::array<size_t, 1>{0}).time.value), 0.1,
              1e-8);
  // gpu1 alone: in 3 GB / 20 GB/s
  EXPECT_NEAR((WorkloadModel{p, map}.predict(std::array<size_t, 1>{1}).time.value), 0.15,
              1e-8);
}

TEST(Workload, MetricsChooseDifferently) {
  const LinkMap map = two_gpus();
  const WorkloadProblem p =
      gemm(1, 1.2);  // both: 0.545 s, 273 J; gpu0: 1 s, 300 J; gpu1: 1.2 s, 240 J
  EXPECT_EQ(ranked_workloads(p, map, metric("perf"))[0].active,
            (std::vector<size_t>{0, 1}));
  EXPECT_EQ(ranked_workloads(p, map, metric("edp"))[0].active,
            (std::vector<size_t>{0, 1}));
  EXPECT_EQ(ranked_workloads(p, map, metric("pdp"))[0].active, (std::vector<size_t>{1}));
}

TEST(Workload, DevicesWithoutARouteToAnOperandAreNotChosen) {
  const std::vector<LinkMap::Link> links{{{host, gpu0}, Seconds{0}, Rate{1e9}},
                                         {{gpu0, host}, Seconds{0}, Rate{1e9}}};
  const LinkMap map{3, links, {}};
  const WorkloadProblem p = gemm(100, 1);
  EXPECT_EQ(ranked_workloads(p, map, metric("perf"))[0].active, (std::vector<size_t>{0}));
  EXPECT_FALSE(std::isfinite(
      WorkloadModel(p, map).predict(std::array<size_t, 2>{0, 1}).time.value));
}

/// A random machine of `gpus` GPUs and a problem on it.
struct RandomCase {
  LinkMap map;
  WorkloadProblem problem;
};
RandomCase random_case(size_t gpus, std::mt19937& random) {
  std::uniform_real_distribution<double> rate{5e9, 50e9}, slowdown{1, 2.5},
      seconds{0.05, 3}, bytes{1e7, 4e9};
  std::uniform_int_distribution<int> any_memory{0, int(gpus)};
  std::vector<LinkMap::Link> links;
  for (size_t s = 0; s <= gpus; ++s)
    for (size_t d = 0; d <= gpus; ++d)
      if (s != d)
        links.push_back({{MemoryId{s}, MemoryId{d}}, Seconds{5e-6}, Rate{rate(random)}});
  std::vector<LinkMap::Slowdown> slowdowns;
  for (size_t i = 0; i < 8 * gpus; ++i)
    slowdowns.push_back({links[random() % links.size()].pair,
                         links[random() % links.size()].pair, slowdown(random)});
  WorkloadProblem p;
  for (const bool written : {false, false, true})
    p.operands.push_back(
        {MemoryId{any_memory(random)}, Bytes{bytes(random)}, true, written});
  p.flops = Flops{1e12}, p.tile_bytes = Bytes{32e6};
  for (size_t g = 1; g <= gpus; ++g)
    p.devices.push_back(MemoryId{g}), p.exec_times.push_back(Seconds{seconds(random)}),
        p.watts.push_back(Watts{300});
  return {LinkMap{gpus + 1, links, slowdowns}, p};
}

TEST(Workload, RandomMachinesHaveSharesThatSumTo1AndDevicesThatEndTogether) {
  std::mt19937 random{7};
  for (int i = 0; i < 200; ++i) {
    const RandomCase c = random_case(1 + i % 8, random);
    std::vector<size_t> all(c.problem.devices.size());
    std::iota(all.begin(), all.end(), 0);
    const Workload w = WorkloadModel{c.problem, c.map}.predict(all);
    EXPECT_NEAR(std::accumulate(w.shares.begin(), w.shares.end(), 0.0), 1, 1e-9);
    EXPECT_THAT(w.shares, ::testing::Each(::testing::Gt(0)));
    const Seconds even = w.energy / Watts{300} / double(w.active.size());
    EXPECT_NEAR(even.value, w.time.value, 1e-6 * w.time.value)
        << "all devices work for as long";
  }
}

TEST(Workload, NoSelectionIsPredictedWorseThanAllDevices) {
  std::mt19937 random{11};
  for (int i = 0; i < 60; ++i) {
    const RandomCase c = random_case(size_t(2 + i % 9), random);
    std::vector<size_t> all(c.problem.devices.size());
    std::iota(all.begin(), all.end(), 0);
    const Workload of_all = WorkloadModel{c.problem, c.map}.predict(all);
    for (const Metric& m : metrics)
      EXPECT_GE(m.of(ranked_workloads(c.problem, c.map, m)[0].outcome(c.problem)),
                m.of(of_all.outcome(c.problem)) * (1 - 1e-9))
          << m.name;
  }
}

TEST(Workload, TheBeamFindsNearlyTheBestOfAllSubsets) {
  std::mt19937 random{5};
  for (int i = 0; i < 20; ++i) {
    const RandomCase c = random_case(8, random);
    for (const Metric& m : metrics)
      EXPECT_GE(
          m.of(ranked_by_beam(c.problem, c.map, m)[0].outcome(c.problem)),
          0.99 * m.of(ranked_of_all_subsets(c.problem, c.map, m)[0].outcome(c.problem)))
          << m.name << " " << i;
  }
}

/// Each device after the first increases the time by 2 %, so that some subsets are better
/// than all devices. All devices draw 300 W and end together.
constexpr Metric costly_devices{"costly", "1/s", true, [](const Outcome& o) {
                                  const double devices = o.energy / (Watts{300} * o.time);
                                  return 1 / (o.time.value * (1 + 0.02 * (devices - 1)));
                                }};
double rate_of(const Workload& workload, const WorkloadProblem& problem) {
  return costly_devices.of(workload.outcome(problem));
}

/// The best rate of sets that grow by one device, each the best for the previous set.
double best_of_growing_sets(const RandomCase& c) {
  WorkloadModel model{c.problem, c.map};
  std::vector<size_t> set;
  double best = 0;
  while (set.size() < c.problem.devices.size()) {
    std::vector<size_t> next;
    double most = -1;
    for (size_t d = 0; d < c.problem.devices.size(); ++d) {
      if (std::ranges::binary_search(set, d)) continue;
      std::vector<size_t> larger = set;
      larger.insert(std::ranges::upper_bound(larger, d), d);
      const double rate = rate_of(model.predict(larger), c.problem);
      if (rate > most) most = rate, next = std::move(larger);
    }
    set = std::move(next), best = std::max(best, most);
  }
  return best;
}

TEST(Workload, TheBeamFindsSetsOfManyDevicesAsGoodAsGreedyGrowth) {
  std::mt19937 random{13};
  for (int i = 0; i < 4; ++i) {
    RandomCase c = random_case(40, random);
    for (size_t d = 0; d < 40; ++d)
      c.problem.exec_times[d] = Seconds{d % 3 == 0 ? 200.0 : 30.0};
    const Workload best = ranked_by_beam(c.problem, c.map, costly_devices)[0];
    EXPECT_GT(best.active.size(), most_by_one) << i;
    EXPECT_LT(best.active.size(), 36U) << i;
    EXPECT_GE(rate_of(best, c.problem), 0.99 * best_of_growing_sets(c)) << i;
  }
}

}  // namespace
}  // namespace tilerail::testing
