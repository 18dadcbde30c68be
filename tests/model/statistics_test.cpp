#include "model/base/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tilerail {
namespace {

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 6}), 5.5);
}

TEST(Quantile, IsAtLeastMoreThanItsShareOfValues) {
  std::vector<double> to_20(20);
  std::iota(to_20.rbegin(), to_20.rend(), 1);
  EXPECT_EQ(quantile(to_20, 0), 1);
  EXPECT_EQ(quantile(to_20, 0.5), 11);
  EXPECT_EQ(quantile(to_20, 0.94), 19);
  EXPECT_EQ(quantile(to_20, 0.95), 20);
  EXPECT_EQ(quantile(to_20, 1), 20);
}

TEST(LeastSquaresFactor, IsTheSumOfProductsOverTheSumOfSquares) {
  const std::vector<double> x{1, 2, 0}, y{1, 3, 8};
  EXPECT_DOUBLE_EQ(least_squares_factor(x, y), (1 * 1 + 2 * 3) / (1 + 4.0));
  EXPECT_EQ(least_squares_factor(std::vector<double>{0, 0}, std::vector<double>{1, 2}),
            0);
  EXPECT_EQ(least_squares_factor({}, {}), 0);
}

}  // namespace
}  // namespace tilerail
