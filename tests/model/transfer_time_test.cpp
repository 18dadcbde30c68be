#include "model/published/transfer_time.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

/// Of so many bytes and seconds.
TransferSample sample(double bytes, double seconds) { return {Bytes{bytes}, Seconds{seconds}}; }
SlowedSample slowed(double alone, double busy) { return {Seconds{alone}, Seconds{busy}}; }

using Samples = std::vector<TransferSample>;
using Slowed = std::vector<SlowedSample>;

TEST(FitTransferTime, IsALineThroughTheLatency) {
  const TransferTime exact = fit_transfer_time(Seconds{2}, Samples{sample(1, 5), sample(2, 8), sample(10, 32)});
  EXPECT_DOUBLE_EQ(exact.latency.value, 2);
  EXPECT_DOUBLE_EQ(exact.per_byte.value, 3);
  // Least squares through the origin: (1 * 1 + 2 * 3) / (1 + 4).
  EXPECT_DOUBLE_EQ(fit_transfer_time(Seconds{0}, Samples{sample(1, 1), sample(2, 3)}).per_byte.value, 7.0 / 5);
  EXPECT_EQ(fit_transfer_time(Seconds{9}, Samples{sample(1, 1)}).per_byte, SecondsPerByte{0});
  EXPECT_THROW(fit_transfer_time(Seconds{0}, Samples{sample(0, 1)}), InputError);
  EXPECT_THROW(fit_transfer_time(Seconds{0}, {}), InputError);
}

TEST(FitTransferLine, FindsTheLineThatSamplesLieOn) {
  const auto line = fit_transfer_line(Samples{sample(1, 5), sample(2, 8), sample(10, 32)});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->latency.value, 2, 1e-12);
  EXPECT_NEAR(line->per_byte.value, 3, 1e-12);
}

// Of two samples of each size that are off by as much relative to their times, the line goes between them: at 1 byte 4
// or 6 s, at 100 bytes 400 or 600 s. Weights 1/t^2: at a size mean = sum(1/t) / sum(1/t^2) = (10/24) / (52/576) =
// 60/13.
TEST(FitTransferLine, WeighsErrorsByTheTimes) {
  const auto line = fit_transfer_line(Samples{sample(1, 4), sample(1, 6), sample(100, 400), sample(100, 600)});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->of(Bytes{1}).value, 60.0 / 13, 1e-9);
  EXPECT_NEAR(line->of(Bytes{100}).value, 6000.0 / 13, 1e-9);
}

TEST(FitTransferLine, IsAbsentWhereNoLineStartsAboveNothingAndRises) {
  EXPECT_FALSE(fit_transfer_line({}));
  EXPECT_FALSE(fit_transfer_line(Samples{sample(3, 5), sample(3, 6)}));
  EXPECT_FALSE(fit_transfer_line(Samples{sample(1, 1), sample(2, 4)}));  // from -2
  EXPECT_FALSE(fit_transfer_line(Samples{sample(1, 4), sample(2, 3)}));  // falls
}

TEST(FitSlowdown, IsLeastSquaresOfBusyOverAlone) {
  EXPECT_DOUBLE_EQ(fit_slowdown(Slowed{slowed(1, 1.5), slowed(10, 15)}), 1.5);
  EXPECT_DOUBLE_EQ(fit_slowdown(Slowed{slowed(1, 2), slowed(2, 2)}), 6.0 / 5);
}

TEST(FitSlowdown, IsFrom1To2) {
  EXPECT_EQ(fit_slowdown(Slowed{slowed(1, 3)}), 2);
  EXPECT_EQ(fit_slowdown(Slowed{slowed(1, 0.5)}), 1);
  EXPECT_EQ(fit_slowdown({}), 1);
}

}  // namespace
}  // namespace tilerail
