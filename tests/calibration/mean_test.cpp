#include "calibration/mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tilerail {
namespace {

TEST(Mean, MeanAndStudentsInterval) {
  // 1, 2, 3: mean 2, deviation 1, t(0.975; 2) = 4.30, half width 4.30 / sqrt(3) = 2.483, relative to 2.
  const std::array<double, 3> samples{1, 2, 3};
  const Measured three = mean_of(samples);
  EXPECT_DOUBLE_EQ(three.mean, 2);
  EXPECT_NEAR(three.half_width, 4.30 / std::sqrt(3.0) / 2, 1e-12);
  EXPECT_EQ(three.count, 3U);
}

TEST(Mean, OneSampleTellsNoWidth) {
  const std::array<double, 1> sample{5};
  EXPECT_EQ(mean_of(sample).mean, 5);
  EXPECT_TRUE(std::isinf(mean_of(sample).half_width));
}

}  // namespace
}  // namespace tilerail
