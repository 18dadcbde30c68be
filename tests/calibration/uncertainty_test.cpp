#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "calibration/fit_topology.hpp"
#include "calibration/mean.hpp"
#include "tests/calibration/made_machine.hpp"

namespace tilerail {
namespace {

using namespace made;

Measurements measured(double noise = 0) {
  return Meter{Topology{switch_machine(1)}, noise}.everything();
}

std::optional<Uncertainty> fitted_uncertainty(const Measurements& m) {
  return fit_topology(m, HostPages::spread).uncertainty;
}

IssueRun issue_of(const char* what, double seconds) {
  return {what, 1, {seconds, 0, 10}};
}

TEST(Deviations, AreTheDistanceAndTheScatterOfOneMoreBatch) {
  Deviations one;
  one.add(10, {12, 0, 3});  // without scatter
  EXPECT_DOUBLE_EQ(one.half_width(), 0.2);
  // Three batches with deviation s have a half width of 4.303 s / sqrt(3) of their mean;
  // one more batch is within 2.920 s sqrt(4 / 3) in nine of ten cases.
  Deviations scattered;
  scattered.add(10, {10, 4.303 * 0.1 / std::sqrt(3), 3});
  EXPECT_NEAR(scattered.half_width(), 2.920 * 0.1 * std::sqrt(4.0 / 3), 1e-4);
  Deviations rates;
  rates.add_rate(10, {8, 0, 3});  // 1.25 times the time
  EXPECT_DOUBLE_EQ(rates.half_width(), 0.25);
  Deviations once;
  once.add(10, {12, std::numeric_limits<double>::infinity(), 1});
  EXPECT_TRUE(once.empty());
}

TEST(Uncertainty, OfIssueCoversNineOfTenCalls) {
  Measurements m = measured();
  m.issue.clear(), m.latencies.clear();
  for (int i = 0; i < 18; ++i) m.issue.push_back(issue_of("gemm", 10e-6));
  m.issue.push_back(issue_of("gemm", 15e-6));
  // The mean of 19 is 195 / 19 us. The ceil(0.9 * 20) = 18th of 19 deviations counts, one
  // of the equal ones.
  EXPECT_NEAR(fitted_uncertainty(m)->issue, 1 - 10 / (195.0 / 19),
              5e-4);  // of 10.26 us, four digits
  m.issue.push_back(issue_of("gemm", 15e-6));
  // Two of 20 have a larger deviation; the ceil(0.9 * 21) = 19th is one of them. The mean
  // is 10.5 us.
  EXPECT_NEAR(fitted_uncertainty(m)->issue, 15 / 10.5 - 1, 1e-4);
}

TEST(Uncertainty, OfEachTypeComesFromKernelsOfTheType) {
  Measurements m = measured();
  for (KernelRun& run : m.kernels)
    if (run.dtype == DType::f32) run.seconds.half_width = 0.2;
  const Uncertainty u = fitted_uncertainty(m).value();
  // Student's quantiles for 9 degrees of freedom: scatter of ten batches about their
  // mean.
  const double scatter = 0.2 * std::sqrt(10.0) / 2.262 * 1.833 * std::sqrt(1.1);
  EXPECT_LT(u.of_kernels(DType::f64)->measured_shapes, 0.05);
  EXPECT_NEAR(u.of_kernels(DType::f32)->measured_shapes, scatter, 0.03);
  EXPECT_FALSE(u.of_kernels(DType::f16)) << "not measured";
}

TEST(Uncertainty, OfLoadIsTheDeviationOfLoadedRuns) {
  EXPECT_LT(fitted_uncertainty(measured())->load, 0.03);
  Measurements m = measured();
  for (KernelRun& run : m.kernels)
    if (run.duty == 1.0 && run.dtype == DType::f64) run.seconds.half_width = 0.3;
  const double scatter = 0.3 * std::sqrt(10.0) / 2.262 * 1.833 * std::sqrt(1.1);
  EXPECT_NEAR(fitted_uncertainty(m)->load, scatter, 0.02)
      << "of four loads that slow down, the one that scatters most";
}

TEST(Uncertainty, OfCopiesComesFromTheirRates) {
  EXPECT_LT(fitted_uncertainty(measured())->copies, 0.03);
  Measurements m = measured();
  for (TransferRun& run : m.transfers) run.total.half_width = 0.1;
  const double scatter = 0.1 * std::sqrt(10.0) / 2.262 * 1.833 * std::sqrt(1.1);
  EXPECT_NEAR(fitted_uncertainty(m)->copies, scatter, 0.03);
}

TEST(Uncertainty, ColumnsBetweenMeasurementsAreLessCertainIfTheCurveBends) {
  Measurements m = measured();
  const double straight = fitted_uncertainty(m)->columns;
  // Every second column has half its rate, so interpolation between columns fails.
  int number = 0;
  for (StridedRun& run : m.strided) run.strided.mean *= ++number % 2 == 0 ? 0.5 : 1;
  EXPECT_GT(fitted_uncertainty(m)->columns, straight + 0.1);
}

TEST(Uncertainty, IsUnknownWithoutRepeatedMeasurements) {
  Measurements m = measured();
  for (KernelRun& run : m.kernels) run.seconds.count = 1;
  EXPECT_FALSE(fitted_uncertainty(m));
}

TEST(Uncertainty, HasASourceAndASeparateSourceForPlainPages) {
  Measurements m = measured();
  Meter{Topology{switch_machine(1)}}.host_flows(m, HostPages::plain);
  for (const HostPages pages : {HostPages::spread, HostPages::plain}) {
    const Topology::Description d = fit_topology(m, pages);
    ASSERT_TRUE(d.uncertainty);
    EXPECT_TRUE(std::ranges::any_of(
        d.sources, [&](const Source& s) { return s.key == d.uncertainty->source; }));
  }
}

/// The share of random unmeasured shapes whose true time is in the interval.
double held(const Measurements& m, DType dtype) {
  const KernelTimes truth = known_kernels();
  const Topology::Description d = fit_topology(m, HostPages::spread);
  const Uncertainty::Kernels width = d.uncertainty->of_kernels(dtype).value();
  std::mt19937 random{1};
  std::uniform_real_distribution<double> octaves{8, 13};
  int inside = 0;
  constexpr int shapes = 400;
  for (int i = 0; i < shapes; ++i) {
    const auto side = [&] { return int64_t(std::exp2(octaves(random))); };
    const int64_t sm = side(), sn = side(), sk = side();
    const auto time = [&](const KernelTimes& k) {
      return k.gemm_time(sm, sn, sk, dtype, Trans::no, Trans::no).value;
    };
    const double near = d.kernels[0]
                            .curve(dtype, Trans::no, Trans::no)
                            .tiled->nearness({double(sm), double(sn), double(sk)});
    const double half = near * width.measured_shapes + (1 - near) * width.other_shapes;
    inside += std::abs(time(truth) / time(d.kernels[0]) - 1) <= half ? 1 : 0;
  }
  return double(inside) / shapes;
}

TEST(Uncertainty, CoversNineOfTenUnmeasuredShapes) {
  EXPECT_GE(held(measured(), DType::f64), 0.9);
  EXPECT_GE(held(measured(0.02), DType::f64), 0.9);
}

}  // namespace
}  // namespace tilerail
