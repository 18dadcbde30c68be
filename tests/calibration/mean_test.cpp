#include "calibration/mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tilerail {
namespace {

TEST(Mean, MeanAndStudentsInterval) {
  // 1, 2, 3: mean 2, deviation 1. With two degrees of freedom, Student's quantile is t(p)
  // = (2 p - 1) / sqrt(2 p (1 - p)): t(0.975) = 4.303, half width 4.303 / sqrt(3) =
  // 2.484, relative to 2.
  const std::array<double, 3> samples{1, 2, 3};
  const SampleMean three = mean_of(samples);
  EXPECT_DOUBLE_EQ(three.mean, 2);
  const double t = 0.95 / std::sqrt(2 * 0.975 * 0.025);
  EXPECT_NEAR(three.half_width, t / std::sqrt(3.0) / 2, 1e-12);
  EXPECT_EQ(three.count, 3U);
}

TEST(Mean, OneSampleHasNoWidth) {
  const std::array<double, 1> sample{5};
  EXPECT_EQ(mean_of(sample).mean, 5);
  EXPECT_TRUE(std::isinf(mean_of(sample).half_width));
}

// With two degrees of freedom, t(0.95) = 0.9 / sqrt(2 * 0.95 * 0.05), and one more sample
// scatters by sqrt(1 + 1 / 3) deviations of 1 about the mean of 2.
TEST(Mean, AFurtherSampleLiesWithinTheScatter) {
  const std::array<double, 3> samples{1, 2, 3};
  const double t = 0.9 / std::sqrt(2 * 0.95 * 0.05);
  EXPECT_NEAR(scatter(mean_of(samples), 0.9), t * std::sqrt(4.0 / 3) / 2, 1e-12);
  EXPECT_TRUE(std::isinf(scatter({5, 0, 1}, 0.9)));
}

// The tenth of ten values from one distribution has each rank with equal probability: it
// is at most the largest of the other nine with probability 0.9.
TEST(Mean, TheCoveringRankIncludesTheNextValue) {
  EXPECT_EQ(covering({9, 1, 8, 2, 7, 3, 6, 4, 5}, 0.9), 9);
  EXPECT_EQ(
      covering({19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.9),
      18);
  EXPECT_EQ(covering({3, 1, 2}, 0.9), 3);  // too few
}

}  // namespace
}  // namespace tilerail
