#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "calibration/fit_topology.hpp"
#include "tests/calibration/made_machine.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using namespace made;

double seconds(const KernelTimes& kernels, int64_t m, int64_t n, int64_t k,
               DType dtype = DType::f64) {
  return kernels.gemm_time(m, n, k, dtype, Trans::no, Trans::no).value;
}

Measurements measured_gpu() { return Meter{Topology{switch_machine(1)}}.everything(); }

KernelTimes fitted_kernels(const Measurements& m) {
  return fit_topology(m, HostPages::spread).kernels.at(0);
}

TEST(FitKernels, MeasuredTimesAreReproducedWithin2Percent) {
  const Measurements m = measured_gpu();
  const Topology t{fit_topology(m, HostPages::spread)};
  const auto residuals = kernel_residuals(m, t);
  ASSERT_GT(residuals.size(), 100u);
  double sum = 0;
  for (const Residual& r : residuals) {
    EXPECT_LT(std::abs(r.error()), 0.05) << r.what;
    sum += std::abs(r.error());
  }
  EXPECT_LT(sum / double(residuals.size()), 0.02);
}

// Unmeasured shapes between measured ones.
TEST(FitKernels, TimesOfOtherShapesAreNearTheTruth) {
  const KernelTimes truth = known_kernels(), found = fitted_kernels(measured_gpu());
  double sum = 0;
  int count = 0;
  for (const auto& [m, n, k] :
       std::initializer_list<std::tuple<int, int, int>>{{900, 900, 900},
                                                        {1800, 1800, 1800},
                                                        {2300, 2300, 600},
                                                        {700, 2800, 2800},
                                                        {3500, 3500, 3500},
                                                        {4500, 4500, 1100},
                                                        {1200, 1200, 5000},
                                                        {7000, 7000, 7000}}) {
    const double error = std::abs(seconds(found, m, n, k) / seconds(truth, m, n, k) - 1);
    EXPECT_LT(error, 0.15) << m << " x " << n << " x " << k;
    sum += error, ++count;
  }
  EXPECT_LT(sum / count, 0.05);
}

TEST(FitKernels, TheFitKeepsFactsOfTheDevice) {
  const KernelTimes truth = known_kernels(), found = fitted_kernels(measured_gpu());
  EXPECT_EQ(found.multiprocessors, truth.multiprocessors);
  EXPECT_EQ(found.memory_bandwidth, truth.memory_bandwidth);
  EXPECT_EQ(found.gemm.size(), truth.gemm.size());
}

TEST(FitKernels, LoadFactorsComeFromLoadedRuns) {
  const KernelTimes truth = known_kernels(), found = fitted_kernels(measured_gpu());
  for (const double duty : {0.0, 0.6, 0.7, 0.8, 0.9, 1.0}) {
    const double expected =
        truth.curve(DType::f64, Trans::no, Trans::no).load_factor(duty);
    EXPECT_NEAR(found.curve(DType::f64, Trans::no, Trans::no).load_factor(duty), expected,
                1e-3)
        << duty;
  }
  EXPECT_TRUE(found.gemm.at(1).sustained.empty())
      << "f32 is as fast under load as without";
}

// One point per 5 ms, slow from 60 ms and from 90 ms on, with an earlier slow point that
// is an outlier.
TEST(FitKernels, LoadAppliesFromTheTimeAtWhichKernelsStaySlow) {
  Measurements m = measured_gpu();
  const double fast = 1e-3,
               slow = fast * fitted_kernels(m).gemm.at(0).sustained.back().factor;
  const auto add = [&](DType dtype, double from) {
    LoadSeries series{"gpu0", dtype, 4096, {}};
    for (double at = 0.005; at < 0.2501; at += 0.005)
      series.points.push_back(
          {at, at > from - 1e-6 || std::abs(at - 0.03) < 1e-6 ? slow : fast});
    m.loads.push_back(series);
  };
  for (const double from : {0.06, 0.09, 1.0}) add(DType::f64, from);
  add(DType::f32, 0.06);
  EXPECT_NEAR(fitted_kernels(m).gemm.at(0).sustained_after.value,
              (0.06 + 0.09 + 0.25) / 3, 1e-4)
      << "the mean";
  EXPECT_NEAR(fitted_kernels(m).gemm.at(0).sustained_fully_after.value, 0.25, 1e-9)
      << "as long as anybody looked";
  EXPECT_NEAR(fitted_kernels(m).gemm.at(0).sustained_at_first, 1, 1e-9)
      << "as slow at once as under load for long";
  EXPECT_EQ(fitted_kernels(m).gemm.at(1).sustained_after, Seconds{0})
      << "f32 is as fast under load as without";
  m.loads.clear();
  for (int i = 0; i < 3; ++i) add(DType::f64, 1.0);
  EXPECT_NEAR(fitted_kernels(m).gemm.at(0).sustained_after.value, 0.25, 1e-9)
      << "no sooner than the end";
  m.loads.clear();
  EXPECT_EQ(fitted_kernels(m).gemm.at(0).sustained_after, Seconds{0})
      << "at once, where nobody has looked";
}

// For 512^3 in f64 with time t alone in a stream: t - 2 us in a graph, and 0.4 of that
// for each of many.
TEST(FitKernels, SquaresGiveTimesInGraphsAndSharesOfConcurrentKernels) {
  Measurements m = measured_gpu();
  const auto alone = std::ranges::find_if(m.kernels, [](const KernelRun& run) {
    return run.dtype == DType::f64 && run.trans == "NN" && run.m == 512 && run.n == 512 &&
           run.k == 512 && run.at_once == 1 && run.alignment == 0 && run.duty < 0.5;
  });
  ASSERT_NE(alone, m.kernels.end());
  KernelRun graph = *alone, many = *alone, stream = *alone;
  const double t = alone->seconds.mean;
  graph.seconds.mean = t - 2e-6, many.seconds.mean = 0.4 * (t - 2e-6), many.at_once = 4;
  stream.seconds.mean = 0.5 * t, stream.at_once = 4;
  m.graph_kernels = {graph, many}, m.kernels.push_back(stream);
  std::erase_if(m.kernels, [](const KernelRun& run) { return run.at_once > 4; });
  const TiledGemm found = *fitted_kernels(m).gemm.at(0).tiled;
  ASSERT_EQ(found.in_graph.size(), 1u);
  EXPECT_EQ(found.in_graph[0].side, 512);
  EXPECT_NEAR(found.in_graph[0].gain.value, 2e-6, 1e-12);
  EXPECT_NEAR(found.in_graph[0].share, 0.4, 1e-12);
  const auto fill = std::ranges::find(found.fills, 512.0, &TiledGemm::Fill::side);
  ASSERT_NE(fill, found.fills.end());
  EXPECT_NEAR(fill->share, 0.5, 1e-12);
  EXPECT_TRUE(fitted_kernels(m).gemm.at(1).tiled->in_graph.empty())
      << "f32 was not measured";
}

TEST(FitKernels, EachShapeHasItsMeasuredIssueCost) {
  Measurements m = measured_gpu();
  m.kernels.front().issue = {9e-6, 0, 3};
  const KernelRun& run = m.kernels.front();
  EXPECT_DOUBLE_EQ(fitted_kernels(m)
                       .gemm_issue(run.m, run.n, run.k, run.dtype, Trans::no, Trans::no)
                       ->value,
                   9e-6);
  EXPECT_FALSE(fitted_kernels(measured_gpu())
                   .gemm_issue(run.m, run.n, run.k, run.dtype, Trans::no, Trans::no));
}

TEST(FitKernels, TheFitReproducesFactorsOfUnalignedColumns) {
  const KernelTimes truth = known_kernels(), found = fitted_kernels(measured_gpu());
  for (const double bytes : {4., 8., 16., 32., 64.})
    EXPECT_NEAR(found.alignment_factor(DType::f32, Trans::no, Trans::no, bytes),
                truth.alignment_factor(DType::f32, Trans::no, Trans::no, bytes), 1e-3)
        << bytes;
  EXPECT_TRUE(found.gemm.at(0).alignment.empty()) << "f64 is as fast on any";
}

std::optional<Watts> watts_of(const Measurements& m, DType dtype = DType::f64) {
  return fitted_kernels(m).gemm_watts(dtype, Trans::no, Trans::no);
}

TEST(FitKernels, WattsDescribeADeviceThatIsAlwaysFull) {
  const Measurements m = measured_gpu();
  ASSERT_TRUE(watts_of(m));
  EXPECT_NEAR(watts_of(m)->value, 310, 1e-9);
  EXPECT_FALSE(watts_of(m, DType::f32)) << "not measured";
}

// Least squares through the idle watts: 0.6 of 240 W and all of 260 W, above 60 W.
TEST(FitKernels, WattsOfSeveralLoadsAreALine) {
  Measurements m = measured_gpu();
  std::erase_if(m.kernels,
                [](const KernelRun& run) { return run.duty > 0.6 && run.duty < 1; });
  for (KernelRun& run : m.kernels) run.watts = run.duty == 1 ? 60 + 260 : 60 + 0.6 * 240;
  EXPECT_NEAR(watts_of(m)->value, 60 + (0.6 * 0.6 * 240 + 260) / (0.6 * 0.6 + 1),
              0.1);  // rounded to four digits
}

TEST(FitKernels, WattsAtThePowerLimitDoNotCount) {
  Measurements m = measured_gpu();
  const auto draws = [&](double watts) {
    for (KernelRun& run : m.kernels)
      run.watts = std::min(limit_watts, 60 + run.duty * (watts - 60));
  };
  draws(550);  // at 0.6: 354 W of 400
  EXPECT_NEAR(watts_of(m)->value, 550, 0.1);
  draws(1000);  // always throttled
  EXPECT_LT(watts_of(m)->value, 700);
  EXPECT_GT(watts_of(m)->value, limit_watts);
}

TEST(FitKernels, WattsThatWereNotMeasuredOverStepsOfTheCounterDoNotCount) {
  Measurements m = measured_gpu();
  for (KernelRun& run : m.kernels)
    if (run.duty != 0.8) run.watts = 1000, run.watts_seconds = 0;
  EXPECT_NEAR(watts_of(m)->value, 310, 1e-9);
  for (KernelRun& run : m.kernels) run.watts_seconds = 0;
  EXPECT_FALSE(watts_of(m));
}

TEST(FitKernels, WattsRequireIdleWatts) {
  Measurements m = measured_gpu();
  m.devices[0].idle_watts = 0;
  EXPECT_FALSE(watts_of(m));
}

TEST(FitKernels, LoadFactorsNeverFallWithTheLoad) {
  Measurements m = measured_gpu();
  for (KernelRun& run : m.kernels)
    if (run.dtype == DType::f64 && run.duty == 0.9) run.seconds.mean *= 0.8;
  const KernelTimes found = fitted_kernels(m);
  double last = 1;
  for (double duty = 0; duty <= 1; duty += 0.05) {
    const double factor = found.curve(DType::f64, Trans::no, Trans::no).load_factor(duty);
    EXPECT_GE(factor, last);
    last = factor;
  }
}

TEST(FitKernels, MeasuredTransposesHaveTheirOwnCurves) {
  Measurements m = measured_gpu();
  KernelRun transposed = m.kernels.front();
  transposed.trans = "TN", transposed.m = transposed.n = transposed.k = 2048;
  transposed.seconds.mean = 1.3 * seconds(known_kernels(), 2048, 2048, 2048);
  m.kernels.push_back(transposed);
  const KernelTimes found = fitted_kernels(m);
  const auto time = [&](Trans a, Trans b) {
    return found.gemm_time(2048, 2048, 2048, DType::f64, a, b).value;
  };
  EXPECT_NEAR(time(Trans::yes, Trans::no) / time(Trans::no, Trans::no), 1.3, 0.06);
  EXPECT_EQ(time(Trans::yes, Trans::yes), time(Trans::no, Trans::no))
      << "not measured: the curve for any pair";
}

// Half as fast at four sizes, therefore also at a size far from all of them.
TEST(FitKernels, SlowTransposesAreSlowAtAllSizes) {
  Measurements m = measured_gpu();
  for (const long long s : {1024, 2048, 4096, 8192}) {
    KernelRun run = m.kernels.front();
    run.trans = "TT", run.m = run.n = run.k = s;
    run.seconds.mean = 2 * seconds(known_kernels(), s, s, s);
    m.kernels.push_back(run);
  }
  const KernelTimes found = fitted_kernels(m);
  const auto time = [&](Trans a, Trans b) {
    return found.gemm_time(1500, 6000, 3000, DType::f64, a, b).value;
  };
  EXPECT_NEAR(time(Trans::yes, Trans::yes) / time(Trans::no, Trans::no), 2, 0.1);
}

TEST(FitKernels, RunsSideBySideUnalignedOrOnOtherDevicesDoNotCount) {
  const KernelTimes before = fitted_kernels(measured_gpu());
  Measurements m = measured_gpu();
  KernelRun odd = m.kernels.front();
  odd.seconds.mean *= 10;
  KernelRun side_by_side = odd, unaligned = odd, elsewhere = odd;
  side_by_side.at_once = 4, unaligned.alignment = 2, elsewhere.gpu = "gpu7";
  m.kernels.insert(m.kernels.end(), {side_by_side, unaligned, elsewhere});
  EXPECT_EQ(seconds(fitted_kernels(m), 128, 128, 128), seconds(before, 128, 128, 128));
}

TEST(FitTopology, MissingMeasurementsAreNamed) {
  const auto without = [](auto change) {
    Measurements m = Meter{Topology{switch_machine(2)}}.everything();
    change(m);
    return [m] { fit_topology(m, HostPages::spread); };
  };
  expect_input_error(without([](Measurements& m) { m.kernels.clear(); }),
                     {"no kernel times", "'kernels'"});
  expect_input_error(without([](Measurements& m) { m.memory.clear(); }),
                     {"no memory rate", "'memory'"});
  expect_input_error(without([](Measurements& m) {
                       std::erase_if(m.transfers, [](const TransferRun& run) {
                         return run.kind == "pair" && run.flows[0].src == "gpu1" &&
                                run.flows[0].dst == "host";
                       });
                     }),
                     {"no copy from gpu1 to host", "kind 'pair'"});
}

}  // namespace
}  // namespace tilerail
