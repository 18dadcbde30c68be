#include "model/published/library_workload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "model/base/indices.hpp"
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

constexpr MemoryId gpu2{3}, gpu3{4};

/// A row for each source of the rates to each destination in GB/s; 0 for no link. The
/// host comes first.
LinkMap map_of(const std::vector<std::vector<double>>& rates) {
  std::vector<LinkMap::Link> all;
  for (const auto src : indices(rates))
    for (const auto dst : indices(rates))
      if (rates[src][dst] > 0)
        all.push_back(
            {{MemoryId(src), MemoryId(dst)}, Seconds{0}, Rate{rates[src][dst] * 1e9}});
  return {rates.size(), all, {}};
}

WorkloadProblem gemm_on(std::vector<MemoryId> devices) {
  WorkloadProblem p = gemm(0.1, 0.1);
  p.exec_times.assign(devices.size(), Seconds{0.1});
  p.watts.assign(devices.size(), Watts{300});
  p.library_factors.assign(devices.size(), 1);
  p.devices = std::move(devices);
  return p;
}

Workload of_all(const WorkloadProblem& p, const LinkMap& map) {
  std::vector<size_t> all(p.devices.size());
  std::iota(all.begin(), all.end(), 0);
  return WorkloadModel{p, map}.predict(all);
}

// GPU 2 reads at 2 GB/s from everywhere, too slow for a detour. A third of 3 GB each:
// GPUs 0 and 1 take 2 GB / 10 GB/s = 0.2 s over GPU 1, which is allowed by the 0.5 s of
// GPU 2. Shares of 5, 5 and 2 of 12 follow: 2.5 GB / 10 GB/s, just as long as 0.5 GB / 2
// GB/s. Without the detour, GPU 0 takes 0.42 GB / 2 GB/s = 0.21 s from GPU 2.
TEST(LibraryWorkload, DetoursAreAllowedWhileAnotherLinkTakesAsLong) {
  const LinkMap map = map_of({{0, 7, 10, 2}, {5, 0, 20, 2}, {5, 20, 0, 2}, {5, 2, 2, 0}});
  const Workload w = of_all(gemm_on({gpu0, gpu1, gpu2}), map);
  for (const Seconds time : w.times) EXPECT_NEAR(time.value, 0.25, 1e-12);
  EXPECT_NEAR(w.shares[2], 2.0 / 12, 1e-12);
}

// A quarter of 3 GB each. GPUs 0 and 3 read at 4 GB/s, over GPUs 1 and 2 at 0.8 x 10.
// GPU 0 goes over GPU 1, whose link then takes 1.5 GB / 10 GB/s = 0.15 s, so GPU 3 over
// GPU 2. Over GPU 1 it would take 2.25 GB / 10 GB/s.
TEST(LibraryWorkload, TheShorterOfTwoEquallyWideDetoursIsTaken) {
  const LinkMap map = map_of({{0, 4, 10, 10, 4},
                              {5, 0, 20, 20, 20},
                              {5, 20, 0, 20, 20},
                              {5, 20, 20, 0, 20},
                              {5, 20, 20, 20, 0}});
  const Workload w = of_all(gemm_on({gpu0, gpu1, gpu2, gpu3}), map);
  for (const Seconds time : w.times) EXPECT_NEAR(time.value, 0.15, 1e-12);
}

// A is 6 GB on GPU 2, and B and C are on the host. The link from GPU 2 to GPU 0 takes
// longest, (2 + 7/6) GB / 11.25 GB/s: a third of A, and 2 / 2 / 2 of a third of A and B.
// The link from the host to GPU 0 has 4 GB/s: over GPU 1 0.8 x 7.5 = 6, and short enough;
// over GPU 2 0.8 x 11.25 = 9 GB/s, twice the link but not twice 6.
TEST(LibraryWorkload, DetoursAreComparedWithTheBestPathSoFar) {
  const LinkMap map =
      map_of({{0, 4, 7.5, 11.25}, {5, 0, 20, 20}, {5, 20, 0, 20}, {5, 11.25, 11.25, 0}});
  WorkloadProblem p = gemm_on({gpu0, gpu1, gpu2});
  p.operands[0].place = gpu2, p.operands[0].bytes = Bytes{6e9};
  const Workload w = of_all(p, map);
  for (const Seconds time : w.times)
    EXPECT_NEAR(time.value, (2 + 7.0 / 6) / 11.25, 1e-12);
}

// A and B are on GPU 0, which reads nothing from the others. Its link from GPU 1 has 1
// GB/s and is replaced by that over GPU 2. So the time from GPU 1 to GPU 2 counts for GPU
// 0: 2 / 2 / 2 of a third of 2 GB, 1/3 GB at 3 GB/s.
TEST(LibraryWorkload, LinksWithoutBytesAreReplaced) {
  const LinkMap map =
      map_of({{0, 50, 50, 50}, {50, 0, 50, 50}, {50, 1, 0, 3}, {50, 50, 50, 0}});
  WorkloadProblem p = gemm_on({gpu0, gpu1, gpu2});
  p.operands[0].place = p.operands[1].place = gpu0;
  const Workload w = of_all(p, map);
  for (const Seconds time : w.times) EXPECT_NEAR(time.value, 1.0 / 9, 1e-12);
}

// edp divides the work as 3^3 : 7^3 (27 and 343 of 370), perf as 3 : 7.
TEST(LibraryWorkload, WorkIsDividedByTheMetric) {
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
