#include "calibration/mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tilerail {
namespace {

TEST(Mean, MeanAndStudentsInterval) {
  // 1, 2, 3: mean 2, deviation 1. With two degrees of freedom Student's quantile is t(p) = (2 p - 1) / sqrt(2 p (1 -
  // p)): t(0.975) = 4.303, half width 4.303 / sqrt(3) = 2.484, relative to 2.
  const std::array<double, 3> samples{1, 2, 3};
  const Measured three = mean_of(samples);
  EXPECT_DOUBLE_EQ(three.mean, 2);
  const double t = 0.95 / std::sqrt(2 * 0.975 * 0.025);
  EXPECT_NEAR(three.half_width, t / std::sqrt(3.0) / 2, 1e-12);
  EXPECT_EQ(three.count, 3U);
}

TEST(Mean, OneSampleTellsNoWidth) {
  const std::array<double, 1> sample{5};
  EXPECT_EQ(mean_of(sample).mean, 5);
  EXPECT_TRUE(std::isinf(mean_of(sample).half_width));
}

}  // namespace
}  // namespace tilerail
