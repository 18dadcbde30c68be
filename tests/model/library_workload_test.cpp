#include "model/published/library_workload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/workloads.hpp"

namespace tilerail::testing {
namespace {

using test::workloads::gpu0, test::workloads::gpu1, test::workloads::host;

constexpr std::array<size_t, 2> both{0, 1};

LinkMap links(double to_first) { return test::workloads::two_gpus(to_first); }

/// As the library predicts it.
WorkloadProblem gemm(double exec0, double exec1) {
  WorkloadProblem p = test::workloads::gemm(exec0, exec1);
  p.hop_rule = HopRule::bottleneck;
  p.library_factors = {1, 1};
  return p;
}

Workload predicted(const WorkloadProblem& p, const LinkMap& map) {
  return WorkloadModel{p, map}.predict(both);
}

// Half of 3 GB from the host: 1.5 / 10 = 0.15 s. Half of C back: 0.5 / 5 = 0.1 s. Extra:
// 1 / 2 inputs x half of 2 GB = 0.5 GB from the other GPU, 0.5 / 20 = 0.025 s. The
// longest counts; equation 3.5 adds 0.15 and 0.025.
TEST(LibraryWorkload, TheLongestLinkCounts) {
  const Workload w = predicted(gemm(0.1, 0.1), links(10));
  EXPECT_NEAR(w.time.value, 0.15, 1e-12);
  EXPECT_EQ(w.shares, (std::vector{0.5, 0.5}));
  EXPECT_NEAR(w.energy.value, 0.15 * 500, 1e-9);
}

// Equal shares: 3 / 2 and 1 / 2 s. In proportion to 1 / time: 1/4 and 3/4, 0.75 s each.
TEST(LibraryWorkload, SharesFollowTheTimesOfEqualShares) {
  const Workload w = predicted(gemm(3, 1), links(10));
  EXPECT_NEAR(w.time.value, 0.75, 1e-12);
  EXPECT_NEAR(w.shares[0], 0.25, 1e-12);
  EXPECT_NEAR(w.times[1].value, 0.75, 1e-12);
}

// Exec times 1.2 and 1, equal shares: 0.6 and 0.5 s. 1 / time gives 5/11 and 6/11, which
// differ by 20 % of the first: more than 2 x 5 %, so they are not averaged. With 1.05 and
// 1 they differ by 5 % and are averaged.
TEST(LibraryWorkload, SimilarSharesAreAveraged) {
  EXPECT_NEAR(predicted(gemm(1.2, 1), links(10)).shares[0], 5.0 / 11, 1e-12);
  EXPECT_NEAR(predicted(gemm(1.05, 1), links(10)).shares[0], 0.5, 1e-12);
  // 10, 11 and 20 of 41; 10 and 11 differ by less than 3 x 5 %.
  const std::vector<double> three = adjusted({10, 11, 20});
  EXPECT_NEAR(three[0], 10.5 / 41, 1e-12);
  EXPECT_NEAR(three[1], 10.5 / 41, 1e-12);
  EXPECT_NEAR(three[2], 20.0 / 41, 1e-12);
}

// 27 of 838 is 3.2 %: the other devices share its part.
TEST(LibraryWorkload, SharesBelowFivePercentAreDropped) {
  const std::vector<double> shares = adjusted({27, 125, 343, 343});
  EXPECT_EQ(shares[0], 0);
  EXPECT_NEAR(shares[1], 125.0 / 811, 1e-12);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
}

// Over GPU 1: 0.8 x min(10, 20) = 8 GB/s. A link of 4 GB/s is half as wide: 3 GB pass the
// host's link to GPU 1, 0.3 s. With one of 6 GB/s, the detour's 0.3 s would be longer
// than the longest link's 1.5 / 6 = 0.25 s, so it is kept; shares of 3/8 and 5/8 follow.
TEST(LibraryWorkload, TrafficOfNarrowLinksGoesOverAnotherGpu) {
  EXPECT_NEAR(predicted(gemm(0.1, 0.1), links(4)).times[0].value, 0.3, 1e-12);
  EXPECT_NEAR(predicted(gemm(0.1, 0.1), links(4)).times[1].value, 0.3, 1e-12);
  EXPECT_NEAR(predicted(gemm(0.1, 0.1), links(6)).times[0].value, 3.0 * 3 / 8 / 6, 1e-12);
}

// GPU 2 reads at 2 GB/s from everywhere, too slow for a detour. A third of 3 GB each:
// GPUs 0 and 1 take 2 GB / 10 GB/s = 0.2 s over GPU 1, which is allowed by the 0.5 s of
// GPU 2. Shares of 5, 5 and 2 of 12 follow: 2.5 GB / 10 GB/s, just as long as 0.5 GB / 2
// GB/s. Without the detour, GPU 0 takes 0.42 GB / 2 GB/s = 0.21 s from GPU 2.
TEST(LibraryWorkload, DetoursAreAllowedWhileAnotherLinkTakesAsLong) {
  const MemoryId gpu2{3};
  std::vector<LinkMap::Link> all;
  const auto add = [&](MemoryId src, MemoryId dst, double rate) {
    all.push_back({{src, dst}, Seconds{0}, Rate{rate * 1e9}});
  };
  add(host, gpu0, 7), add(host, gpu1, 10), add(gpu0, gpu1, 20), add(gpu1, gpu0, 20);
  for (const MemoryId other : {host, gpu0, gpu1}) add(other, gpu2, 2);
  for (const MemoryId other : {gpu0, gpu1}) add(gpu2, other, 2);
  for (const MemoryId gpu : {gpu0, gpu1, gpu2}) add(gpu, host, 5);
  WorkloadProblem p = gemm(0.1, 0.1);
  p.devices.push_back(gpu2), p.exec_times.push_back(Seconds{0.1});
  p.watts.push_back(Watts{300}), p.library_factors.push_back(1);
  const LinkMap map{4, all, {}};
  const Workload w = WorkloadModel{p, map}.predict(std::array<size_t, 3>{0, 1, 2});
  for (const Seconds time : w.times) EXPECT_NEAR(time.value, 0.25, 1e-12);
  EXPECT_NEAR(w.shares[2], 2.0 / 12, 1e-12);
}

// edp divides the work as 3^3 : 7^3 (27 and 343 of 370), perf as 3 : 7.
TEST(LibraryWorkload, PartsAreDealtByTheMetric) {
  WorkloadProblem p = gemm(7, 3);
  p.watts = {Watts{300}, Watts{300}};
  const Workload best = predicted(p, links(10));
  EXPECT_NEAR(deal_by_metric(best, metrics[0], p).shares[0], 0.3, 1e-12);
  EXPECT_NEAR(deal_by_metric(best, metrics[1], p).shares[0], 27.0 / 370, 1e-12);
  EXPECT_NEAR(deal_by_metric(best, metrics[2], p).shares[0], 9.0 / 58, 1e-12);
  p.exec_times = {Seconds{8}, Seconds{3}};  // 27 of 539: 5 %, hardly
  EXPECT_EQ(deal_by_metric(predicted(p, links(10)), metrics[1], p).active.size(), 2u);
  p.exec_times = {Seconds{9}, Seconds{3}};  // 1 of 28
  EXPECT_EQ(deal_by_metric(predicted(p, links(10)), metrics[1], p).active,
            (std::vector<size_t>{1}));
  p.library_factors.clear();
  EXPECT_EQ(deal_by_metric(best, metrics[1], p).shares, best.shares);
}

TEST(LibraryWorkload, FactorsLengthenTheTimeByTheNumberOfDevices) {
  WorkloadProblem p = gemm(0.1, 0.1);
  p.library_factors = {1, 1.1};
  EXPECT_NEAR(predicted(p, links(10)).time.value, 0.165, 1e-12);
}

// Exec times 1 and 8: both devices take 8/9 s, with a factor of 1.06 6 % less than GPU 0
// alone, with 1.08 4 %.
TEST(LibraryWorkload, AnotherDeviceMustGainMoreThanFivePercent) {
  const LinkMap map = links(10);
  WorkloadProblem p = gemm(1, 8);
  for (const auto& [factor, devices] : {std::pair{1.06, 2u}, std::pair{1.08, 1u}}) {
    p.library_factors = {1, factor};
    EXPECT_EQ(ranked_workloads(p, map, metrics[0])[0].active.size(), devices) << factor;
  }
}

TEST(LibraryWorkload, FurtherPartsAreOfTheMostSquareGrid) {
  const std::array<double, 8> parts{0, 1, 2, 2, 4, 3, 6, 4};
  for (size_t devices = 1; devices <= parts.size(); ++devices)
    EXPECT_EQ(further_parts(devices), parts[devices - 1]) << devices;
}

}  // namespace
}  // namespace tilerail::testing
