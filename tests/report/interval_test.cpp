#include "report/timeline/interval.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/compare/compare.hpp"
#include "report/summary/summary.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::SamplePlan;
using ::testing::HasSubstr;

Topology::Description known_description() {
  auto d = test::sample_machine().description();
  Uncertainty u;
  u.kernels = {{DType::f64, 0.1, 0.1}};
  u.load = 0.5, u.copies = 0.2, u.columns = 0.3, u.issue = 0.4, u.source = "s";
  d.uncertainty = u;
  return d;
}

std::optional<PathUncertainty> uncertainty_on(Topology::Description description) {
  const SamplePlan sample;
  return path_uncertainty(sample.plan(), Topology{std::move(description)},
                          SamplePlan::timeline(sample.plan()).ops);
}

/// The kernel on the path, 100 x 100 x 100 for 25 ms, with a rule that has one measured
/// cube of this side.
double kernels_near(double side) {
  auto d = known_description();
  GemmCurve& curve = d.kernels[0].gemm[0];
  curve.points.clear(), curve.tiled.emplace();
  curve.tiled->peak = FlopRate{1e9}, curve.tiled->launch = Seconds{1e-6},
  curve.tiled->blocks = {{100, 100, 1}};
  curve.tiled->shapes = {{side, 100, 100, Seconds{25e-3}}};
  d.uncertainty->kernels = {{DType::f64, 0.1, 0.3}};
  return uncertainty_on(d)->kernels;
}

/// The path (bottleneck_test.cpp): 30 ms of copies and 5 ms of waiting for copies, all of
/// columns of A and C; 25 ms of kernels; 30 ms of issue.
TEST(Interval, EachClassCountsByItsPartOfTheCriticalPath) {
  const auto u = uncertainty_on(known_description());
  ASSERT_TRUE(u);
  EXPECT_NEAR(u->kernels, 0.1 * 25e-3, 1e-12);
  EXPECT_NEAR(u->copies, 0.2 * 35e-3, 1e-12);
  EXPECT_NEAR(u->columns, 0.3 * 35e-3, 1e-12);
  EXPECT_NEAR(u->issue, 0.4 * 30e-3, 1e-12);
  EXPECT_EQ(u->load, 0);
  EXPECT_NEAR(u->half_width(),
              1e-3 * std::sqrt(2.5 * 2.5 + 7 * 7 + 10.5 * 10.5 + 12 * 12), 1e-9);
}

TEST(Interval, LoadCountsIfTheDeviceSlowsDown) {
  auto d = known_description();
  // gpu1 is busy for 25 of 90 ms with a kernel of a block of 16: for a share of 0.017, or
  // more if this kernel is fast.
  d.kernels[0].gemm[0].sustained = {{25.0 / 90, 1.0}, {0.5, 1.2}};
  EXPECT_EQ(uncertainty_on(d)->load, 0);
  d.kernels[0].gemm[0].sustained = {{0.0, 1.0}, {0.017, 1.2}};
  EXPECT_NEAR(uncertainty_on(d)->load, 0.5 * 25e-3, 1e-12);
}

TEST(Interval, ShapesFarFromMeasuredShapesAreLessCertain) {
  EXPECT_NEAR(kernels_near(100), 0.1 * 25e-3, 1e-12);
  EXPECT_NEAR(kernels_near(1000), 0.3 * 25e-3, 1e-12);
  const double near = std::exp(-1);  // of a shape 0.15 octaves away
  EXPECT_NEAR(kernels_near(100 * std::exp2(0.15)),
              (near * 0.1 + (1 - near) * 0.3) * 25e-3, 1e-9);
}

TEST(Interval, MachinesWithoutUncertaintyHaveNoInterval) {
  EXPECT_FALSE(uncertainty_on(test::sample_machine().description()));
  auto d = known_description();
  d.uncertainty->kernels = {{DType::f32, 0.1, 0.1}};
  EXPECT_FALSE(uncertainty_on(d)) << "the kernels are of f64";
  EXPECT_FALSE(test::sample_timeline().metadata.interval);
}

// 90 ms and the half width of the first test, 17.59 ms.
TEST(Interval, SimulationsHaveAnIntervalAndRunsDoNot) {
  const Topology machine{known_description()};
  const SamplePlan sample;
  Timeline timeline = SamplePlan::timeline(sample.plan());
  const AnnotatedTimeline predicted = annotate(sample.plan(), machine, timeline);
  ASSERT_TRUE(predicted.metadata.interval);
  EXPECT_NEAR(predicted.metadata.interval->low, 90e-3 - 17.593e-3, 1e-6);
  EXPECT_NEAR(predicted.metadata.interval->high, 90e-3 + 17.593e-3, 1e-6);
  const Summary summary = summarize(sample.plan(), machine, predicted, {});
  EXPECT_THAT(summary_table(summary),
              HasSubstr("interval    72.41 ms to 107.6 ms in 90% of cases\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(summary))["interval"]["level"], 0.9);
  timeline.backend = "host";
  EXPECT_FALSE(annotate(sample.plan(), machine, timeline).metadata.interval);
}

TEST(Interval, AComparisonReportsTheSideOfTheMeasurement) {
  const AnnotatedTimeline predicted =
      test::sample_timeline(Topology{known_description()});
  const auto told = [&](double later) {
    const Comparison comparison = compare(predicted, test::delayed(predicted, 3, later));
    EXPECT_EQ(nlohmann::json::parse(to_json(comparison))["interval"]["holds"],
              later < 17e-3);
    return comparison_table(comparison);
  };
  EXPECT_THAT(told(10e-3), HasSubstr("makespan expected: 72.41 ms to 107.6 ms in 90% of "
                                     "cases; the measured one lies"));
  EXPECT_THAT(told(18e-3), HasSubstr("the measured one is above it"));
  AnnotatedTimeline faster = predicted;
  for (AnnotatedOp& op : faster.ops) op.start /= 2, op.end /= 2;
  faster.metadata.backend = "host";
  EXPECT_THAT(comparison_table(compare(predicted, faster)),
              HasSubstr("the measured one is below it"));
  const Comparison none =
      compare(test::sample_timeline(), test::delayed(test::sample_timeline(), 3, 1e-3));
  EXPECT_THAT(comparison_table(none), Not(HasSubstr("expected")));
}

}  // namespace
}  // namespace tilerail
