#include "model/published/transfer_time.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

using Samples = std::vector<TransferSample>;
using Slowed = std::vector<SlowedSample>;

TEST(FitTransferTime, IsALineThroughTheLatency) {
  const TransferTime exact = fit_transfer_time(2, std::vector<TransferSample>{{1, 5}, {2, 8}, {10, 32}});
  EXPECT_DOUBLE_EQ(exact.latency, 2);
  EXPECT_DOUBLE_EQ(exact.per_byte, 3);
  // Least squares through the origin: (1 * 1 + 2 * 3) / (1 + 4).
  EXPECT_DOUBLE_EQ(fit_transfer_time(0, std::vector<TransferSample>{{1, 1}, {2, 3}}).per_byte, 7.0 / 5);
  EXPECT_EQ(fit_transfer_time(9, std::vector<TransferSample>{{1, 1}}).per_byte, 0);
  EXPECT_THROW(fit_transfer_time(0, std::vector<TransferSample>{{0, 1}}), InputError);
  EXPECT_THROW(fit_transfer_time(0, {}), InputError);
}

TEST(FitTransferLine, FindsTheLineThatSamplesLieOn) {
  const auto line = fit_transfer_line(Samples{{1, 5}, {2, 8}, {10, 32}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->latency, 2, 1e-12);
  EXPECT_NEAR(line->per_byte, 3, 1e-12);
}

// Of two samples of each size that are off by as much relative to their times, the line goes between them: at 1 byte 4
// or 6 s, at 100 bytes 400 or 600 s. Weights 1/t^2: at a size mean = sum(1/t) / sum(1/t^2) = (10/24) / (52/576) =
// 60/13.
TEST(FitTransferLine, WeighsErrorsByTheTimes) {
  const auto line = fit_transfer_line(Samples{{1, 4}, {1, 6}, {100, 400}, {100, 600}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->of(1), 60.0 / 13, 1e-9);
  EXPECT_NEAR(line->of(100), 6000.0 / 13, 1e-9);
}

TEST(FitTransferLine, IsAbsentWhereNoLineStartsAboveNothingAndRises) {
  EXPECT_FALSE(fit_transfer_line({}));
  EXPECT_FALSE(fit_transfer_line(Samples{{3, 5}, {3, 6}}));
  EXPECT_FALSE(fit_transfer_line(Samples{{1, 1}, {2, 4}}));  // from -2
  EXPECT_FALSE(fit_transfer_line(Samples{{1, 4}, {2, 3}}));  // falls
}

TEST(FitSlowdown, IsLeastSquaresOfBusyOverAlone) {
  EXPECT_DOUBLE_EQ(fit_slowdown(Slowed{{1, 1.5}, {10, 15}}), 1.5);
  EXPECT_DOUBLE_EQ(fit_slowdown(Slowed{{1, 2}, {2, 2}}), 6.0 / 5);
}

TEST(FitSlowdown, IsFrom1To2) {
  EXPECT_EQ(fit_slowdown(Slowed{{1, 3}}), 2);
  EXPECT_EQ(fit_slowdown(Slowed{{1, 0.5}}), 1);
  EXPECT_EQ(fit_slowdown({}), 1);
}

}  // namespace
}  // namespace tilerail
